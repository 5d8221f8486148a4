/// <summary>The entry point of the page's program on Mono, whose compiler has no asynchronous Main.</summary>
public static class Entrada
{
    public static void Main()
    {
        Exemplo.Main().GetAwaiter().GetResult();
        // Mono now and then waits for most of a minute before it ends by itself.
        System.Environment.Exit(0);
    }
}
