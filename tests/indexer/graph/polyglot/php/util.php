<?php
namespace Shop\Util;

class Formatter
{
    public function format(int $value): string
    {
        return pad((string) $value); //> pad
    }

    public function price(): int
    {
        return 0;
    }
}

class Logger
{
    public static ?Logger $instance = null;

    public static function get(): Logger
    {
        return self::$instance ??= new Logger();
    }

    public function write(string $text): void
    {
        echo helper(); //> helper@util.php
    }
}

function slug(string $text): string
{
    return strtolower($text);
}

function pad(string $text): string
{
    return $text;
}

function helper(): string
{
    return 'util';
}
