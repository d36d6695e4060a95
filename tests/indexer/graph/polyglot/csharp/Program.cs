using System;
using System.Linq;
using System.Collections.Generic;
using Bank.Accounts;
using Bank.Tools;
using Out = Bank.Tools.Printer;

namespace Bank
{
    class Program
    {
        private readonly List<Savings> all = new();
        private IAccount account;

        public Savings First { get; set; }

        static void Main(string[] args)
        {
            var program = new Program();
            program.Run(new Savings("a")); //> Program.Run, Savings.Savings#1
            Out.Open().Print("x"); //> Printer.Open, Printer.Print
            Bank.Tools.Printer.Open(); //> Printer.Open
        }

        void Run(Savings savings)
        {
            savings.Deposit(1); //> Savings.Deposit
            savings.Rename("b").Balance(); //> Savings.Rename, Savings.Balance
            account.Deposit(2); //> IAccount.Deposit
            savings.Show(10); //> Extensions.Show
            Print("local"); //> Program.Print
            foreach (var each in all)
            {
                each.Balance(); //> Savings.Balance
            }
            First.Balance(); //> Savings.Balance
            Action action = Finish; 
            action(); //> Program.Finish
            Func<int, int> twice = n => Twice(n); //> Program.Twice
            twice(2); //> Program.Run.twice
            string Deposit = "shadow";
            Deposit.Trim();
            using var printer = Out.Open(); //> Printer.Open
            printer.Print(nameof(args)); //> Printer.Print
        }

        static void Print(string text) { }

        static int Twice(int n) => n * 2;

        void Finish()
        {
            this.First?.Rename("c"); //> Savings.Rename
            dynamic any = account;
            any.Deposit(3); //> IAccount.Deposit
        }

        static void args() { }
    }
}
