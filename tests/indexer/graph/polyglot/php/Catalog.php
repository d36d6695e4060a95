<?php
declare(strict_types=1);

namespace Shop\Catalog;

use Shop\Util\{Formatter as F, Logger};
use function Shop\Util\slug;

interface Priced
{
    public function price(): int;
}

trait Logs
{
    private ?Logger $logger = null;

    protected function log(string $text): void
    {
        $this->logger->write($text); //> Logger.write
    }
}

abstract class Item implements Priced
{
    use Logs;

    public function __construct(protected string $name, private F $formatter)
    {
        $this->log($name); //> Logs.log
    }

    public function show(): string
    {
        return $this->formatter->format($this->price()); //> Formatter.format, Priced.price
    }

    public static function create(string $name): static
    {
        return new static($name, new F()); //> Item.__construct
    }

    public function rename(string $name): self
    {
        return $this;
    }
}

final class Book extends Item
{
    public function price(): int
    {
        return self::base() + strlen(slug($this->name)); //> Book.base, slug@util.php
    }

    public function show(): string
    {
        return parent::show() . helper(); //> Item.show, helper@Catalog.php
    }

    private static function base(): int
    {
        return 3;
    }
}

function helper(): string
{
    return 'catalog';
}
