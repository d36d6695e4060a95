namespace Bank.Tools;

using Bank.Accounts;

public static class Extensions
{
    public static string Show(this Savings account, int width)
    {
        return Pad(account.Balance().ToString(), width); //> Extensions.Pad, Savings.Balance
    }

    private static string Pad(string text, int width)
    {
        string Inner(string value) => value.PadLeft(width);
        return Inner(text); //> Extensions.Pad.Inner
    }
}

public class Printer
{
    public string Title { get; set; }

    public void Print(string text) { }

    public static Printer Open() => new Printer();
}
