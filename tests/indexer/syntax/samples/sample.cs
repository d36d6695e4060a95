using System;
using System.Collections.Generic;

namespace Acme.Billing
{
    /// <summary>Writes invoices.</summary>
    [Serializable]
    public class InvoiceWriter : IWriter
    {
        private readonly List<string> lines = new();

        public InvoiceWriter(string path)
        {
            Open(path);
        }

        public int Count { get; set; }

        [Obsolete]
        public void Write(Invoice invoice)
        {
            lines.Add(invoice.ToString());
        }
    }

    public interface IWriter
    {
        void Write(Invoice invoice);
    }

    public struct Money
    {
        public decimal Amount;
    }

    public enum State { Draft, Sent }

    public record Line(string Name, decimal Price);
}
