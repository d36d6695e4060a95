module Data.Stack (Stack, push) where

import qualified Data.Map as Map
import Data.List (sort)

-- | A stack of things.
data Stack a = Empty | Push a (Stack a)

newtype Wrapper = Wrapper Int

type Name = String

class Container f where
  insert :: a -> f a -> f a

instance Container Stack where
  insert = Push

-- | Puts one on top.
push :: a -> Stack a -> Stack a
push x s = Push x s

size :: Stack a -> Int
size Empty = 0
size (Push _ s) = 1 + size s
