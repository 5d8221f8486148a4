using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Threading.Tasks;
using EmissorNfse;

/// <summary>An integrator's program with the C# client: the argument selects the part, and each step prints a line.</summary>
public static class Programa
{
    public static void Main(string[] args)
    {
        string[] resto = args.Skip(1).ToArray();
        if (args[0] == "historia") Historia(resto).GetAwaiter().GetResult();
        else if (args[0] == "emitir") Emitir(resto).GetAwaiter().GetResult();
        else if (args[0] == "espera") Espera(resto).GetAwaiter().GetResult();
        else if (args[0] == "token") Token(resto).GetAwaiter().GetResult();
        else Assinar(resto);
        // Mono now and then waits for most of a minute before it ends by itself.
        Environment.Exit(0);
    }

    static void Diz(params object[] valores)
    {
        Console.WriteLine(string.Join(" ", valores.Select(um => um == null ? "-" : um is bool ? um.ToString().ToLowerInvariant() : um.ToString())));
    }

    static async Task Historia(string[] a)
    {
        var opcoes = new Opcoes { Autoridades = new X509Certificate2Collection(new X509Certificate2(File.ReadAllBytes(a[4]))) };
        var cliente = new Cliente(a[0], a[1], new Certificado(File.ReadAllBytes(a[2]), a[3]), opcoes);
        var deXml = await cliente.EmitirNotaAsync(File.ReadAllBytes(a[5]), new Envio { Chave = a[8] });
        Diz("xml", deXml.chave_acesso, deXml.repetida, deXml.xml_nfse.StartsWith("<"));
        var outra = await cliente.EmitirNotaAsync(File.ReadAllBytes(a[5]), new Envio { Chave = a[8] });
        Diz("repetida", outra.chave_acesso, outra.repetida);
        var conhecida = await cliente.EmitirNotaAsync(File.ReadAllBytes(a[5]));
        Diz("conhecida", conhecida.chave_acesso, conhecida.repetida, conhecida.xml_nfse);
        var deJson = await cliente.EmitirNotaAsync(File.ReadAllBytes(a[6]));
        Diz("json", deJson.chave_acesso, deJson.repetida);
        try
        {
            await cliente.EmitirNotaAsync(File.ReadAllBytes(a[7]));
        }
        catch (ErroDoEmissor erro)
        {
            Diz("recusa", erro.GetType().Name, erro.codigo_erro, erro.Status, erro.campo, erro.erros.Count, erro.Requisicao != null,
                erro.mensagem == erro.erros[0].mensagem, erro.detalhes != null);
        }
        var nota = (await cliente.AcompanharNotaAsync(deJson.chave_acesso)).nota;
        Diz("nota", nota.status, nota.valor_issqn, nota.data_cancelamento);
        Diz("protocolo", (await cliente.ConsultarNotaPorProtocoloAsync(deJson.numero_protocolo)).nota.chave_acesso);
        var id = Cliente.IdentificadorDaDps("3550308", "11222333000181", nota.serie_dps_nacional, nota.numero_dps_nacional);
        try
        {
            Diz("dps", (await cliente.ConsultarNotaPorDpsAsync(id)).chave_acesso);
        }
        catch (Recusado erro)
        {
            Diz("dps", erro.codigo_erro);
        }
        var nenhum = Cliente.IdentificadorDaDps("3550308", "11222333000181", "9", "9");
        Diz("existe", await cliente.ExisteNotaDaDpsAsync(id), await cliente.ExisteNotaDaDpsAsync(nenhum));
        Diz("danfse", Encoding.ASCII.GetString(await cliente.BaixarDanfseAsync(deJson.chave_acesso), 0, 5));
        var evento = await cliente.RegistrarEventoAsync(deJson.chave_acesso, new Dictionary<string, object>
        {
            ["tipo_evento"] = "cancelamento",
            ["codigo_motivo_cancelamento"] = "1",
            ["descricao_motivo_cancelamento"] = "Valor do serviço informado com erro",
        });
        Diz("evento", evento.tipo_evento, evento.numero_sequencial, evento.repetida);
        Diz("fim", (await cliente.AcompanharEventoAsync(deJson.chave_acesso, evento.tipo_evento, evento.numero_sequencial.Value)).status_evento);
        var eventos = await cliente.ListarEventosAsync(deJson.chave_acesso);
        Diz("eventos", eventos.total, eventos.eventos[0].tipo_evento);
        Diz("situacao", (await cliente.ConsultarNotaAsync(deJson.chave_acesso)).nota.status);
        var json = File.ReadAllText(a[6]).Replace("\"numero_dps\": \"", "\"numero_dps\": \"9");
        var validada = await cliente.ValidarDpsAsync(Encoding.UTF8.GetBytes(json));
        Diz("validada", validada.valores.valor_issqn, validada.calculo[0].campo);
    }

    static async Task Token(string[] a)
    {
        var autoridades = new X509Certificate2Collection(new X509Certificate2(File.ReadAllBytes(a[4])));
        var certificado = new Certificado(File.ReadAllBytes(a[2]), a[3]);
        var dado = await new Cliente(a[0], a[1], certificado, new Opcoes { Autoridades = autoridades }).PedirTokenAsync("11222333000181", new[] { "consultar" }, 7);
        var leitor = new Cliente(a[0], a[1], null, new Opcoes { Autoridades = autoridades, Token = dado.token });
        var lista = await leitor.ListarNotasAsync(new Dictionary<string, string> { ["papel"] = "prestador", ["limite"] = "1" });
        Diz("token", dado.documento, string.Join(" ", dado.escopos), lista.notas.Count);
        Diz("mudancas", Math.Min(2, (await leitor.SeguirMudancasAsync()).mudancas.Count));
        try
        {
            await new Cliente(a[0], a[1], null, new Opcoes { Autoridades = autoridades }).PedirTokenAsync("11222333000181");
        }
        catch (ErroDoEmissor erro)
        {
            Diz(erro.GetType().Name, erro.codigo_erro);
        }
    }

    static async Task Espera(string[] a)
    {
        var cliente = new Cliente(a[0], a[1]);
        var chave = new string('1', 50);
        foreach (Func<Task> fazer in new Func<Task>[] { () => cliente.ConsultarNotaAsync(chave), () => cliente.AcompanharNotaAsync(chave, TimeSpan.FromMinutes(50)) })
        {
            try
            {
                await fazer();
            }
            catch (NaoEntregue erro)
            {
                Diz("NaoEntregue", erro.Tentativas, erro.Espera.Value.TotalSeconds);
            }
            catch (AindaEmAndamento)
            {
                Diz("AindaEmAndamento");
            }
        }
    }

    static async Task Emitir(string[] a)
    {
        var opcoes = new Opcoes { Tentativas = 3, PrimeiraEspera = TimeSpan.FromMilliseconds(10) };
        var cliente = new Cliente(a[0], a[1], new Certificado(File.ReadAllBytes(a[2]), a[3]), opcoes);
        try
        {
            var emitida = await cliente.EmitirNotaAsync(File.ReadAllBytes(a[4]));
            Diz("emitida", emitida.chave_acesso, emitida.repetida);
        }
        catch (ErroDoEmissor erro)
        {
            var duvida = erro as Indeterminado;
            Diz(erro.GetType().Name, erro.Tentativas, erro.Status, duvida != null);
            if (duvida == null || a.Length < 6) return;
            var envio = new Envio { Chave = duvida.Repeticao.Chave, Assinatura = duvida.Repeticao.Assinatura };
            var retomada = await new Cliente(a[5], a[1]).EmitirNotaAsync(duvida.Repeticao.Corpo, envio);
            Diz("retomada", retomada.chave_acesso, retomada.repetida);
        }
    }

    static void Assinar(string[] a)
    {
        Certificado certificado;
        try
        {
            certificado = new Certificado(File.ReadAllBytes(a[0]), a[1]);
        }
        catch (CertificadoRecusado)
        {
            Diz("CertificadoRecusado");
            return;
        }
        for (int lugar = 2; lugar < a.Length; lugar += 2)
        {
            try
            {
                File.WriteAllBytes(a[lugar + 1], Assinatura.AssinarXml(File.ReadAllBytes(a[lugar]), certificado));
                Diz("assinada");
            }
            catch (XmlRecusado)
            {
                Diz("XmlRecusado");
            }
        }
    }
}
