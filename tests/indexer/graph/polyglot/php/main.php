<?php
use Shop\Catalog\Book;
use Shop\Catalog\Item as Thing;
use Shop\Util as U;

require_once 'Catalog.php';

function run(Thing $item, $unknown): void
{
    $item->show(); //> Item.show
    $unknown->show();
    $item->rename('x')->show(); //> Item.rename, Item.show
    $helper = fn (int $n): int => twice($n); //> twice
    $helper(2); //> run.helper
    $callback = function () use ($item) {
        return $item->show(); //> Item.show
    };
    $callback(); //> run.callback
    U\Logger::get()->write('x'); //> Logger.get, Logger.write
    \Shop\Util\slug('y'); //> slug@util.php
    Book::create('z'); //> Item.create
    apply('twice');
}

function twice(int $n): int
{
    return $n * 2;
}

class Runner
{
    private Book $book;
    private array $all = [];

    public function __construct(Book $book)
    {
        $this->book = $book;
    }

    public function start(): void
    {
        $this->book->price(); //> Book.price
        $this?->stop(); //> Runner.stop
        run($this->book, null); //> run
        foreach ($this->all as $each) {
            $each->price();
        }
        $made = new Book('a', new U\Formatter()); //> Item.__construct
        $made->price(); //> Book.price
        $copy = clone $made;
        $text = match (true) {
            default => static::label(), //> Runner.label
        };
        helper();
    }

    private static function label(): string
    {
        return '';
    }

    public function stop(): void {}
}

(new Runner(new Book('b', new U\Formatter())))->start(); //> Runner.__construct, Item.__construct, Runner.start
