// Program.cs, ao lado de EmissorNfse.cs e de dps.json
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading.Tasks;
using EmissorNfse;

public static class Percurso
{
    public static void Main(string[] args)
    {
        Percorrer(args.Length > 0 ? args[0] : "http://127.0.0.1:8080").GetAwaiter().GetResult();
    }

    static async Task Percorrer(string url)
    {
        byte[] dps = File.ReadAllBytes("dps.json");

        // Um ambiente só seu. A chave do dono não se mostra de novo: é com ela que se muda o relógio.
        var criado = await new Cliente(url, "integracao").CriarAmbienteAsync(new Dictionary<string, object> { ["nome"] = "Meu ERP" });
        string municipio = criado.ambiente.municipio;
        Console.WriteLine("Ambiente " + municipio + ", chave " + criado.chave);
        var cliente = new Cliente(url, municipio);

        // Quem pergunta mostra um token, aqui o do prestador de dps.json. O cursor diz desde quando se seguem as mudanças.
        string token = (await cliente.PedirTokenAsync("11222333000181", new[] { "consultar", "webhooks" }, 90)).token;
        var leitor = new Cliente(url, municipio, null, new Opcoes { Token = token });
        string cursor = (await leitor.SeguirMudancasAsync("agora")).cursor;

        var emitida = await cliente.EmitirNotaAsync(dps);
        var nota = (await cliente.AcompanharNotaAsync(emitida.chave_acesso)).nota;
        Console.WriteLine("Nota " + nota.numero + " " + nota.status + ", ISSQN " + nota.valor_issqn + ": " + nota.chave_acesso);
        File.WriteAllBytes("nota.pdf", await cliente.BaixarDanfseAsync(nota.chave_acesso));

        var evento = await cliente.RegistrarEventoAsync(nota.chave_acesso, new Dictionary<string, object>
        {
            ["tipo_evento"] = "cancelamento",
            ["codigo_motivo_cancelamento"] = "1",
            ["descricao_motivo_cancelamento"] = "Valor do serviço informado com erro",
        });
        var fim = await cliente.AcompanharEventoAsync(nota.chave_acesso, evento.tipo_evento, evento.numero_sequencial.Value);
        Console.WriteLine("Cancelamento " + fim.status_evento);

        for (bool cancelada = false; !cancelada; )
        {
            var resposta = await leitor.SeguirMudancasAsync(cursor, 20);
            foreach (var mudanca in resposta.mudancas)
            {
                Console.WriteLine("Mudança: " + mudanca.tipo);
                cancelada = cancelada || mudanca.tipo == "nota.cancelada";
            }
            cursor = resposta.cursor; // no seu sistema, grave-o com o que tratou
        }

        var lista = await leitor.ListarNotasAsync(new Dictionary<string, string> { ["papel"] = "prestador" });
        foreach (var uma in lista.notas) Console.WriteLine("Na lista: " + uma.chave_acesso + " " + uma.status);

        // Janeiro do ano que vem, que o relógio do ambiente alcança num instante.
        int ano = int.Parse(criado.ambiente.relogio.Substring(0, 4)) + 1;
        await cliente.AlterarAmbienteAsync(criado.chave, new Dictionary<string, object> { ["relogio"] = ano + "-01-04T09:00:00-03:00" });
        emitida = await cliente.EmitirNotaAsync(dps);
        Console.WriteLine("Em janeiro: " + (await cliente.AcompanharNotaAsync(emitida.chave_acesso)).nota.data_emissao);
    }
}
