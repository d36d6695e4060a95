use std::collections::HashMap;
use crate::parser::{Parser, Token};

pub const LIMIT: usize = 10;
static NAME: &str = "lexer";

/// A lexer over bytes.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    input: &'a [u8],
}

pub enum Mode {
    Fast,
    Careful,
}

pub trait Scan {
    fn scan(&mut self) -> Option<Token>;
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning.
    #[inline]
    pub fn new(input: &'a [u8]) -> Self {
        Self { input }
    }
}

impl<'a> Scan for Lexer<'a> {
    fn scan(&mut self) -> Option<Token> {
        let table: HashMap<u8, Token> = HashMap::new();
        table.get(self.input.first()?).cloned()
    }
}

macro_rules! token {
    ($x:expr) => { Token::new($x) };
}

pub type Tokens = Vec<Token>;

pub fn run(text: &str) -> Tokens {
    println!("{}", text);
    helper(text)
}

mod tests {
    #[test]
    fn runs() {
        assert_eq!(super::run("").len(), 0);
    }
}
