<?php

namespace App\Http;

use App\Models\User;
use Illuminate\Support\Facades\Log;

const LIMIT = 10;

/**
 * Shows users.
 */
#[Route('/users')]
final class UserController extends Controller
{
    private int $count = 0;

    public function show(int $id): User
    {
        Log::info('show');
        return $this->find($id);
    }

    private function find(int $id): User
    {
        return new User(load($id));
    }
}

interface Shows
{
    public function show(int $id): User;
}

trait Counts
{
    public function count(): int
    {
        return strlen('x');
    }
}

enum Level: string
{
    case Low = 'low';
}

function load(int $id): array
{
    return array_filter([$id]);
}
