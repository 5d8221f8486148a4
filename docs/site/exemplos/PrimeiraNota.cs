// Program.cs de um projeto feito com "dotnet new console": dotnet run -- dps.json
// (.NET 5 ou mais novo; no .NET Framework 4.7, com o pacote System.Text.Json)
using System;
using System.IO;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Text.Json;
using System.Threading.Tasks;

public static class PrimeiraNota
{
    static readonly HttpClient Http = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };

    public static int Main(string[] args)
    {
        return Emitir(args).GetAwaiter().GetResult();
    }

    static async Task<int> Emitir(string[] args)
    {
        string enderecoBase = args.Length > 1 ? args[1] : "http://127.0.0.1:8080/integracao";
        byte[] corpo = File.ReadAllBytes(args.Length > 0 ? args[0] : "dps.json"); // os bytes, como estão

        // Uma chave por nota, gerada antes do primeiro envio e repetida em cada repetição dele.
        string chaveDoEnvio = Guid.NewGuid().ToString();
        HttpResponseMessage resposta;
        for (int tentativa = 1; ; tentativa++)
        {
            var pedido = new HttpRequestMessage(HttpMethod.Post, enderecoBase + "/api/v1/nfse/v101");
            pedido.Headers.Add("Idempotency-Key", chaveDoEnvio);
            pedido.Content = new ByteArrayContent(corpo);
            pedido.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
            resposta = await Enviar(pedido);
            int status = resposta == null ? 0 : (int)resposta.StatusCode;
            if (status > 0 && status < 500 && status != 408 && status != 409 && status != 429) break;
            if (tentativa == 8) throw new Exception("O serviço não respondeu. Repita mais tarde, com a mesma chave do envio.");
            await Esperar(resposta, Math.Min(1 << tentativa, 60));
        }

        JsonElement dados = JsonDocument.Parse(await resposta.Content.ReadAsStringAsync()).RootElement;
        if ((int)resposta.StatusCode != 201)
        {
            foreach (JsonElement erro in dados.GetProperty("erros").EnumerateArray())
                Console.Error.WriteLine(erro.GetProperty("codigo").GetString() + ": " + erro.GetProperty("mensagem").GetString());
            return 1;
        }
        string chave = dados.GetProperty("chave_acesso").GetString();
        Console.WriteLine("Emitida: " + chave);

        for (int pausa = 1; ; pausa = Math.Min(pausa * 2, 60))
        {
            resposta = await Enviar(new HttpRequestMessage(HttpMethod.Get, enderecoBase + "/api/v1/nfse/" + chave));
            if (resposta != null && resposta.IsSuccessStatusCode)
            {
                dados = JsonDocument.Parse(await resposta.Content.ReadAsStringAsync()).RootElement;
                JsonElement nota = dados.GetProperty("nota");
                JsonElement protocolo = dados.GetProperty("protocolo");
                if (protocolo.GetProperty("status").GetString() == "rejeitado")
                    throw new Exception("O ADN recusou: " + protocolo.GetProperty("mensagem_retorno").GetString());
                if (nota.GetProperty("status").GetString() == "autorizada")
                {
                    File.WriteAllText(chave + ".xml", nota.GetProperty("xml_nota").GetString());
                    Console.WriteLine("Autorizada, ISSQN " + nota.GetProperty("valor_issqn").GetString() + ": " + chave + ".xml");
                    return 0;
                }
            }
            await Esperar(resposta, pausa);
        }
    }

    /// <summary>Nulo quando não houve resposta: não se sabe se o pedido chegou.</summary>
    static async Task<HttpResponseMessage> Enviar(HttpRequestMessage pedido)
    {
        try { return await Http.SendAsync(pedido); }
        catch (Exception e) when (e is HttpRequestException || e is TaskCanceledException) { return null; }
    }

    static Task Esperar(HttpResponseMessage resposta, int segundos)
    {
        TimeSpan? pedido = resposta?.Headers.RetryAfter?.Delta;
        return Task.Delay(TimeSpan.FromSeconds(Math.Max(segundos, pedido.HasValue ? pedido.Value.TotalSeconds : 0)));
    }
}
