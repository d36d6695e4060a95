using System;
using System.Collections.Generic;

namespace Bank.Accounts
{
    public interface IAccount
    {
        decimal Balance();
        void Deposit(decimal amount);
    }

    public abstract class Account : IAccount
    {
        protected readonly string owner;
        private static int opened;

        protected Account(string owner)
        {
            this.owner = owner;
            Opened(); //> Account.Opened
        }

        public abstract decimal Balance();

        public virtual void Deposit(decimal amount)
        {
            Check(amount); //> Account.Check
        }

        protected static void Check(decimal amount) { }

        private static void Opened() => opened++;
    }

    public class Savings : Account
    {
        private readonly Ledger ledger = new Ledger();

        public Savings(string owner) : base(owner) { } //> Account.Account

        public Savings() : this("nobody") { } //> Savings.Savings#1

        public override decimal Balance() => ledger.Total(); //> Ledger.Total

        public override void Deposit(decimal amount)
        {
            base.Deposit(amount); //> Account.Deposit
            ledger.Add(amount); //> Ledger.Add#1
            ledger.Add(amount, "note"); //> Ledger.Add#2
        }

        public Savings Rename(string to)
        {
            return new Savings(to); //> Savings.Savings#1
        }
    }

    internal partial class Ledger
    {
        public void Add(decimal amount) { }

        public void Add(decimal amount, string note)
        {
            Add(amount); //> Ledger.Add#1
            Audit(note); //> Ledger.Audit
        }
    }

    internal partial class Ledger
    {
        public decimal Total() => 0;

        private void Audit(string note) { }
    }
}
