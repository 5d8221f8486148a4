// Cliente do Emissor NFS-e, num arquivo só: assina, emite, repete sem emitir duas vezes, acompanha, registra eventos, consulta.
//
//     dotnet add package System.Security.Cryptography.Pkcs
//     dotnet add package System.Security.Cryptography.Xml
//
//     var certificado = new Certificado(File.ReadAllBytes("certificado.pfx"), senha);
//     var cliente = new Cliente("https://nfse.exemplo.gov.br", "exemplo", certificado);
//     try
//     {
//         var emitida = await cliente.EmitirNotaAsync(File.ReadAllBytes("dps.xml"), new Envio { Chave = "pedido-1234" });
//         Console.WriteLine(emitida.chave_acesso);
//     }
//     catch (Recusado recusa)
//     {
//         Console.WriteLine(recusa.codigo_erro + " " + recusa.campo + " " + recusa.mensagem);
//     }
//
// Escrito para .NET 8, com dois pacotes da Microsoft; no .NET Framework 4.7.2 ou mais novo, com o pacote System.Text.Json e as
// referências System.Net.Http e System.Security. Os testes do projeto o compilam e rodam no Mono, com um substituto de System.Text.Json:
// no .NET da Microsoft ele não foi rodado. Copie este arquivo para o seu projeto. Um cliente serve a várias threads. Os nomes
// publicados (chave_acesso, codigo_erro) são os do serviço. Licença: Apache-2.0.
#pragma warning disable IDE1006, SYSLIB0057, CS8600, CS8601, CS8602, CS8603, CS8604, CS8618, CS8619, CS8620, CS8622, CS8625, CS8629
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.Pkcs;
using System.Security.Cryptography.X509Certificates;
using System.Security.Cryptography.Xml;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using System.Xml;

namespace EmissorNfse
{
    // Os erros

    /// <summary>Um XML que não se assina, e por quê. Nada foi enviado.</summary>
    public sealed class XmlRecusado : ArgumentException
    {
        internal XmlRecusado(string motivo, Exception causa = null) : base(motivo, causa) { }
    }

    /// <summary>Um .pfx que não se abre, ou que não assina. Nada foi enviado.</summary>
    public sealed class CertificadoRecusado : ArgumentException
    {
        internal CertificadoRecusado(string motivo, Exception causa = null) : base(motivo, causa) { }
    }

    /// <summary>Com que se repete, byte por byte, um envio cujo fim não se conhece. Guarde-a.</summary>
    public sealed class Repeticao
    {
        public string Chave { get; }
        public byte[] Corpo { get; }
        /// <summary>De um corpo JSON; nula em XML.</summary>
        public string Assinatura { get; }

        internal Repeticao(string chave, byte[] corpo, string assinatura)
        {
            Chave = chave;
            Corpo = corpo;
            Assinatura = assinatura;
        }
    }

    /// <summary>Uma chamada que não acabou bem. O que vem do envelope de erro é nulo se o serviço não respondeu com ele.</summary>
    public abstract class ErroDoEmissor : Exception
    {
        public string codigo_erro { get; }
        public string mensagem { get; }
        /// <summary>Um texto, ou um objeto com dados.</summary>
        public JsonElement? detalhes { get; }
        public string campo { get; }
        /// <summary>Todos os erros da etapa que recusou.</summary>
        public IReadOnlyList<Erro> erros { get; }
        /// <summary>O envelope inteiro.</summary>
        public EnvelopeDeErro envelope { get; }
        /// <summary>Status HTTP da última resposta; nulo se não houve.</summary>
        public int? Status { get; }
        /// <summary>X-Request-Id da última resposta, para o suporte.</summary>
        public string Requisicao { get; }
        public string Operacao { get; }
        public int Tentativas { get; }

        internal ErroDoEmissor(string texto, string operacao, int tentativas, Falha falha) : base(texto, falha.Causa)
        {
            envelope = falha.Envelope == null ? null : new EnvelopeDeErro(falha.Envelope.Value);
            codigo_erro = envelope?.codigo_erro;
            mensagem = envelope?.mensagem ?? texto;
            detalhes = envelope?.detalhes;
            campo = envelope?.campo;
            erros = envelope?.erros ?? new List<Erro>();
            Status = falha.Resposta?.Status;
            Requisicao = falha.Resposta?.Cabecalho("X-Request-Id");
            Operacao = operacao;
            Tentativas = tentativas;
        }
    }

    /// <summary>O serviço leu e recusou: nada foi feito. Corrija pelo que dizem os erros; repetir sem mudar não adianta.</summary>
    public sealed class Recusado : ErroDoEmissor
    {
        internal Recusado(string texto, string operacao, int tentativas, Falha falha) : base(texto, operacao, tentativas, falha) { }
    }

    /// <summary>A requisição não foi atendida: nada foi feito. Repita mais tarde, igual.</summary>
    public sealed class NaoEntregue : ErroDoEmissor
    {
        internal NaoEntregue(string texto, string operacao, int tentativas, Falha falha) : base(texto, operacao, tentativas, falha) { }
    }

    /// <summary>A requisição saiu e não se sabe se foi feita. Repita com a repetição, e nunca com outro número.</summary>
    public sealed class Indeterminado : ErroDoEmissor
    {
        public Repeticao Repeticao { get; }

        internal Indeterminado(string texto, string operacao, int tentativas, Falha falha, Repeticao repeticao)
            : base(texto, operacao, tentativas, falha)
        {
            Repeticao = repeticao;
        }
    }

    /// <summary>O prazo do acompanhamento acabou. Nada deu errado: consulte mais tarde, e não envie de novo.</summary>
    public sealed class AindaEmAndamento : Exception
    {
        internal AindaEmAndamento(TimeSpan prazo) : base("O prazo de " + prazo.TotalSeconds + " segundos acabou antes do fim. Consulte mais tarde.") { }
    }

    // O certificado e a assinatura

    /// <summary>Um certificado A1 e a chave dele, abertos de um PKCS#12 (.pfx, .p12).</summary>
    public sealed class Certificado
    {
        internal X509Certificate2 Proprio { get; }
        internal RSA Chave { get; }
        internal X509Certificate2Collection Cadeia { get; } = new X509Certificate2Collection();

        /// <param name="guarda">Onde a chave fica enquanto é usada. No IIS, sem perfil de usuário: MachineKeySet.</param>
        public Certificado(byte[] pfx, string senha, X509KeyStorageFlags guarda = X509KeyStorageFlags.DefaultKeySet)
        {
            var todos = new X509Certificate2Collection();
            try
            {
                Proprio = new X509Certificate2(pfx, senha, guarda);
                todos.Import(pfx, senha, guarda);
            }
            catch (Exception erro) when (erro is CryptographicException || erro is ArgumentException)
            {
                throw new CertificadoRecusado("O PKCS#12 não se abre: confira o arquivo e a senha (" + erro.Message + ").", erro);
            }
            Chave = Proprio.HasPrivateKey ? Proprio.GetRSAPrivateKey() : null;
            if (Chave == null) throw new CertificadoRecusado("O PKCS#12 não traz um certificado com a sua chave RSA.");
            foreach (X509Certificate2 um in todos)
            {
                if (!um.RawData.SequenceEqual(Proprio.RawData)) Cadeia.Add(new X509Certificate2(um.RawData));
            }
        }
    }

    public static class Assinatura
    {
        const string Dsig = "http://www.w3.org/2000/09/xmldsig#";
        const string ExcC14n = "http://www.w3.org/2001/10/xml-exc-c14n#";
        const string RsaSha256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
        const string Sha256 = "http://www.w3.org/2001/04/xmlenc#sha256";
        static readonly Regex FimDaDps = new Regex(@"</(?:[\w.-]+:)?DPS[ \t\r\n]*>[ \t\r\n]*\z");
        static readonly Regex Signature = new Regex(@"<(?:[\w.-]+:)?Signature[\s>]");

        /// <summary>Se o XML traz uma assinatura, de quem quer que seja.</summary>
        public static bool EstaAssinado(byte[] xml)
        {
            // Of an XML in UTF-16 every other octet is zero.
            string texto = Encoding.GetEncoding(28591).GetString(xml).Replace("\0", "");
            return Signature.IsMatch(texto) && texto.Contains(Dsig);
        }

        /// <summary>A DPS com Signature depois de infDPS, e o resto como está. Lança XmlRecusado para o que não se pode assinar.</summary>
        public static byte[] AssinarXml(byte[] xml, Certificado certificado)
        {
            string texto;
            try { texto = new UTF8Encoding(false, true).GetString(xml); }
            catch (DecoderFallbackException erro) { throw new XmlRecusado("O documento não está em UTF-8; converta-o antes de assinar.", erro); }
            XmlElement elemento = LerInfDps(xml);
            Match fim = FimDaDps.Match(texto);
            if (!fim.Success) throw new XmlRecusado("O documento não acaba em </DPS>.");
            string id = elemento.GetAttribute("Id");
            string resumo;
            using (SHA256 resumidor = SHA256.Create()) resumo = Convert.ToBase64String(resumidor.ComputeHash(Canonica(elemento)));
            // Written in its own canonical form, but for the declaration that stands in Signature.
            string informacao = "<CanonicalizationMethod Algorithm=\"" + ExcC14n + "\"></CanonicalizationMethod>"
                + "<SignatureMethod Algorithm=\"" + RsaSha256 + "\"></SignatureMethod>"
                + "<Reference URI=\"#" + id + "\"><Transforms><Transform Algorithm=\"" + Dsig + "enveloped-signature\"></Transform>"
                + "<Transform Algorithm=\"" + ExcC14n + "\"></Transform></Transforms>"
                + "<DigestMethod Algorithm=\"" + Sha256 + "\"></DigestMethod><DigestValue>" + resumo + "</DigestValue></Reference>";
            byte[] assinado = Encoding.UTF8.GetBytes("<SignedInfo xmlns=\"" + Dsig + "\">" + informacao + "</SignedInfo>");
            byte[] valor = certificado.Chave.SignData(assinado, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
            string assinatura = "<Signature xmlns=\"" + Dsig + "\"><SignedInfo>" + informacao + "</SignedInfo>"
                + "<SignatureValue>" + Convert.ToBase64String(valor) + "</SignatureValue><KeyInfo><X509Data><X509Certificate>"
                + Convert.ToBase64String(certificado.Proprio.RawData) + "</X509Certificate></X509Data></KeyInfo></Signature>";
            return Encoding.UTF8.GetBytes(texto.Insert(fim.Index, assinatura));
        }

        /// <summary>
        /// The exclusive canonical form of an element. It is copied with the namespaces in force and nothing else of what stands around it:
        /// SignedXml would add what only the inclusive form inherits.
        /// </summary>
        static Stream Canonica(XmlElement elemento)
        {
            var documento = new XmlDocument { PreserveWhitespace = true, XmlResolver = null };
            var copia = (XmlElement)documento.AppendChild(documento.ImportNode(elemento, true));
            foreach (KeyValuePair<string, string> um in elemento.CreateNavigator().GetNamespacesInScope(XmlNamespaceScope.ExcludeXml))
            {
                string nome = um.Key == "" ? "xmlns" : "xmlns:" + um.Key;
                if (!copia.HasAttribute(nome)) copia.SetAttribute(nome, um.Value);
            }
            var canonica = new XmlDsigExcC14NTransform();
            canonica.LoadInput(documento);
            return (Stream)canonica.GetOutput(typeof(Stream));
        }

        /// <summary>The one element that is signed, of a document in which there is nothing that the signature would not cover.</summary>
        static XmlElement LerInfDps(byte[] xml)
        {
            var documento = new XmlDocument { PreserveWhitespace = true, XmlResolver = null };
            var regras = new XmlReaderSettings { DtdProcessing = DtdProcessing.Prohibit, XmlResolver = null };
            try
            {
                using (var leitor = XmlReader.Create(new MemoryStream(xml), regras)) documento.Load(leitor);
            }
            catch (XmlException erro)
            {
                throw new XmlRecusado("O XML não se lê: " + erro.Message, erro);
            }
            string codificacao = (documento.FirstChild as XmlDeclaration)?.Encoding ?? "";
            if (codificacao != "" && codificacao.ToUpperInvariant() != "UTF-8" && codificacao.ToUpperInvariant() != "UTF8")
            {
                throw new XmlRecusado("O documento diz estar em " + codificacao + ", e só se assina UTF-8.");
            }
            if (documento.SelectNodes("//comment() | //processing-instruction()").Count > 0)
            {
                throw new XmlRecusado("Há um comentário ou uma instrução de processamento, que a assinatura não cobre.");
            }
            XmlElement raiz = documento.DocumentElement;
            List<XmlElement> elementos = raiz.ChildNodes.OfType<XmlElement>().ToList();
            if (elementos.Count > 1 && elementos[1].LocalName == "Signature") throw new XmlRecusado("A DPS já está assinada.");
            if (raiz.LocalName != "DPS" || elementos.Count != 1 || elementos[0].LocalName != "infDPS")
            {
                throw new XmlRecusado("O documento não é DPS com um infDPS dentro, e só.");
            }
            if (raiz.ChildNodes.OfType<XmlCharacterData>().Any(um => um.Value.Trim() != ""))
            {
                throw new XmlRecusado("Há texto fora de infDPS, que a assinatura não cobre.");
            }
            if (!Regex.IsMatch(elementos[0].GetAttribute("Id"), @"\A[A-Za-z0-9_.-]+\z"))
            {
                throw new XmlRecusado("Falta o Id de infDPS, a que a assinatura se refere.");
            }
            return elementos[0];
        }

        /// <summary>O valor de X-DPS-Assinatura ou X-Evento-Assinatura: CMS destacado sobre estes bytes. Envie exatamente os mesmos.</summary>
        public static string AssinarCms(byte[] corpo, Certificado certificado)
        {
            var assinante = new CmsSigner(SubjectIdentifierType.IssuerAndSerialNumber, certificado.Proprio)
            {
                DigestAlgorithm = new Oid("2.16.840.1.101.3.4.2.1"),
                // What came with the certificate goes with it, and nothing is looked for elsewhere.
                IncludeOption = X509IncludeOption.EndCertOnly,
            };
            assinante.Certificates.AddRange(certificado.Cadeia);
            assinante.SignedAttributes.Add(new Pkcs9SigningTime());
            var cms = new SignedCms(new ContentInfo(corpo), true);
            try { cms.ComputeSignature(assinante, true); }
            catch (CryptographicException erro) { throw new CertificadoRecusado("A chave não assina: " + erro.Message, erro); }
            return Convert.ToBase64String(cms.Encode());
        }
    }

    // A chamada

    /// <summary>Como se envia uma DPS ou um evento.</summary>
    public sealed class Envio
    {
        /// <summary>A Idempotency-Key: grave-a antes de enviar, e use-a em toda repetição. Sem ela o cliente faz uma.</summary>
        public string Chave { get; set; }
        /// <summary>De um corpo JSON que já foi assinado.</summary>
        public string Assinatura { get; set; }
        /// <summary>Só na integração: o que o ADN deve ensaiar.</summary>
        public string Simular { get; set; }
    }

    /// <summary>Quanto se insiste, e em que servidor se confia.</summary>
    public sealed class Opcoes
    {
        /// <summary>As autoridades do servidor, no lugar das do sistema.</summary>
        public X509Certificate2Collection Autoridades { get; set; }
        /// <summary>Com que se pergunta sem certificado: PedirTokenAsync o dá.</summary>
        public string Token { get; set; }
        /// <summary>Quantas vezes uma chamada pode sair.</summary>
        public int Tentativas { get; set; } = 6;
        /// <summary>Tempo de uma chamada com todas as suas tentativas.</summary>
        public TimeSpan Prazo { get; set; } = TimeSpan.FromMinutes(2);
        /// <summary>Tempo de uma tentativa.</summary>
        public TimeSpan TempoLimite { get; set; } = TimeSpan.FromSeconds(30);
        /// <summary>Antes da segunda tentativa, se o serviço não pede outra coisa; dobra a cada uma.</summary>
        public TimeSpan PrimeiraEspera { get; set; } = TimeSpan.FromSeconds(1);
        public TimeSpan EsperaMaxima { get; set; } = TimeSpan.FromMinutes(1);
    }

    internal sealed class Operacao
    {
        internal readonly string Nome;
        internal readonly string Metodo;
        internal readonly string Caminho;
        /// <summary>Repeated under one key it is answered as it was.</summary>
        internal readonly bool SeRepete;
        /// <summary>In production for one party alone, who is known by the certificate of the connection.</summary>
        internal readonly bool ComCertificado;
        internal readonly string Assinatura;

        internal Operacao(string nome, string metodo, string caminho, bool seRepete, bool comCertificado, string assinatura)
        {
            Nome = nome;
            Metodo = metodo;
            Caminho = caminho;
            SeRepete = seRepete;
            ComCertificado = comCertificado;
            Assinatura = assinatura;
        }
    }

    internal sealed class Resposta
    {
        internal int Status;
        internal Dictionary<string, string> Cabecalhos;
        internal byte[] Corpo;

        internal string Cabecalho(string nome)
        {
            string valor;
            return Cabecalhos.TryGetValue(nome, out valor) ? valor : null;
        }

        /// <summary>How long the answer asks to be waited for; null where it does not.</summary>
        internal TimeSpan? Espera()
        {
            RetryConditionHeaderValue pedido;
            if (!RetryConditionHeaderValue.TryParse(Cabecalho("Retry-After"), out pedido)) return null;
            TimeSpan espera = pedido.Delta ?? pedido.Date.Value - DateTimeOffset.UtcNow;
            return espera < TimeSpan.Zero ? TimeSpan.Zero : espera;
        }
    }

    /// <summary>What one try came to, besides an answer.</summary>
    internal sealed class Falha
    {
        internal string Desfecho = "nao_entregue";
        internal string Motivo = "";
        internal bool SeRepete;
        internal Resposta Resposta;
        internal JsonElement? Envelope;
        internal Exception Causa;
    }

    /// <summary>What one request takes besides its operation.</summary>
    internal sealed class Pedido
    {
        internal readonly Operacao Operacao;
        internal string Caminho;
        internal byte[] Corpo;
        internal string Tipo;
        internal string Assinatura;
        internal Envio Envio = new Envio();
        internal string Exige;
        internal int Aceita;
        internal string Aceito = "application/json";
        internal bool IsJson = true;
        internal int? Tentativas;
        /// <summary>In place of the token of the client.</summary>
        internal string Token;

        internal Pedido(Operacao operacao)
        {
            Operacao = operacao;
            Caminho = operacao.Caminho;
        }

        internal Pedido Nome(string nome, string valor)
        {
            Caminho = Caminho.Replace("{" + nome + "}", Cliente.Segmento(nome, valor));
            return this;
        }

        /// <summary>What is null is left out.</summary>
        internal Pedido Consulta(string nome, string valor)
        {
            if (valor != null) Caminho += (Caminho.Contains("?") ? "&" : "?") + nome + "=" + Uri.EscapeDataString(valor);
            return this;
        }

        internal Pedido Json(IDictionary<string, object> dados)
        {
            Tipo = "json";
            Corpo = JsonSerializer.SerializeToUtf8Bytes(dados);
            return this;
        }
    }

    /// <summary>Um cliente de um município.</summary>
    public sealed class Cliente
    {
        const int TamanhoMaximo = 32 * 1024 * 1024;
        static readonly Random Acaso = new Random();

        readonly string endereco;
        readonly string municipio;
        readonly Certificado certificado;
        readonly Opcoes opcoes;
        readonly HttpClient http;
        readonly HttpClient identificado;

        /// <summary>Sem certificado nada é assinado: serve na integração, e para o que já vem assinado.</summary>
        /// <param name="url">Endereço do serviço, sem o município.</param>
        /// <param name="municipio">integracao, um ambiente só seu (ensaio-xxxxxx), ou o da prefeitura.</param>
        public Cliente(string url, string municipio, Certificado certificado = null, Opcoes opcoes = null)
        {
            if (!Regex.IsMatch(url, @"\Ahttps?://[^/?#@\s]+(/[^?#@\s]*)?\z"))
            {
                throw new ArgumentException("url é um endereço como https://nfse.exemplo.gov.br, sem usuário, senha, ? nem #.");
            }
            endereco = url.TrimEnd('/') + "/" + Segmento("municipio", municipio);
            this.municipio = municipio;
            this.certificado = certificado;
            this.opcoes = opcoes ?? new Opcoes();
            http = Conexoes(null);
            identificado = certificado == null ? http : Conexoes(certificado);
        }

        /// <summary>
        /// Emite a nota de uma DPS, em XML ou em JSON. Insiste até saber se emitiu; uma repetição com a mesma chave nunca é uma segunda
        /// nota. Lança Recusado, NaoEntregue ou Indeterminado.
        /// </summary>
        public async Task<NotaEmitida> EmitirNotaAsync(byte[] dps, Envio envio = null, CancellationToken parar = default(CancellationToken))
        {
            Pedido pedido = ComCorpo(new Pedido(Operacoes.emitirNota), dps, envio);
            pedido.Exige = "chave_acesso";
            try
            {
                Resposta resposta = await Responder(pedido, parar).ConfigureAwait(false);
                return new NotaEmitida(Leitura.Objeto(resposta.Corpo).Value) { repetida = Repetida(resposta) };
            }
            catch (Recusado recusa)
            {
                Erro erro = recusa.erros.FirstOrDefault();
                if (erro == null || erro.codigo != "E0014" || erro.mesmo_conteudo != true || erro.chave_acesso == null) throw;
                // The note that was asked for is there already, from a sending under another key.
                var dados = new Dictionary<string, object> { { "status", "OK" }, { "chave_acesso", erro.chave_acesso }, { "numero_protocolo", erro.numero_protocolo } };
                return new NotaEmitida(Leitura.Objeto(JsonSerializer.SerializeToUtf8Bytes(dados)).Value) { repetida = true };
            }
        }

        /// <summary>Com os nomes do corpo JSON.</summary>
        public Task<NotaEmitida> EmitirNotaAsync(IDictionary<string, object> dps, Envio envio = null, CancellationToken parar = default(CancellationToken))
        {
            return EmitirNotaAsync(JsonSerializer.SerializeToUtf8Bytes(dps), envio, parar);
        }

        /// <summary>Confere sem emitir: os valores com cada passo do cálculo, ou Recusado com todos os erros.</summary>
        public async Task<DpsValidada> ValidarDpsAsync(byte[] dps, CancellationToken parar = default(CancellationToken))
        {
            return new DpsValidada(await Ler(ComCorpo(new Pedido(Operacoes.validarDps), dps, null), parar).ConfigureAwait(false));
        }

        public async Task<NotaConsultada> ConsultarNotaAsync(string chave_acesso, CancellationToken parar = default(CancellationToken))
        {
            return new NotaConsultada(await Ler(DaNota(Operacoes.consultarNota, chave_acesso), parar).ConfigureAwait(false));
        }

        public async Task<NotaPorProtocolo> ConsultarNotaPorProtocoloAsync(string numero_protocolo, CancellationToken parar = default(CancellationToken))
        {
            Pedido pedido = new Pedido(Operacoes.consultarNotaPorProtocolo).Nome("numero_protocolo", numero_protocolo);
            return new NotaPorProtocolo(await Ler(pedido, parar).ConfigureAwait(false));
        }

        /// <summary>Pelo identificador da DPS (IdentificadorDaDps). Em produção, com o certificado de uma parte.</summary>
        public async Task<NotaPorDps> ConsultarNotaPorDpsAsync(string identificador, CancellationToken parar = default(CancellationToken))
        {
            return new NotaPorDps(await Ler(new Pedido(Operacoes.consultarNotaPorDps).Nome("id", identificador), parar).ConfigureAwait(false));
        }

        /// <summary>Se há nota da DPS; aberta também em produção.</summary>
        public async Task<bool> ExisteNotaDaDpsAsync(string identificador, CancellationToken parar = default(CancellationToken))
        {
            Pedido pedido = new Pedido(Operacoes.existeNotaDaDps).Nome("id", identificador);
            pedido.Aceita = 404;
            pedido.IsJson = false;
            Resposta resposta = await Responder(pedido, parar).ConfigureAwait(false);
            if (resposta.Status == 404 && resposta.Cabecalho("X-NFSe-Ambiente") == null)
            {
                const string texto = "O endereço não é de nenhum município atendido. Confira url e municipio.";
                throw new NaoEntregue(texto, "existeNotaDaDps", 1, new Falha { Resposta = resposta });
            }
            return resposta.Status == 200;
        }

        /// <summary>Consulta até que a nota repouse: nota.status autorizada ou cancelada, ou protocolo.status rejeitado.</summary>
        public Task<NotaConsultada> AcompanharNotaAsync(string chave_acesso, TimeSpan? prazo = null, CancellationToken parar = default(CancellationToken))
        {
            return Acompanhar(
                () => DaNota(Operacoes.consultarNota, chave_acesso),
                dados => new NotaConsultada(dados),
                lida => lida.nota.status != "rascunho" || lida.protocolo.status == "rejeitado",
                prazo,
                parar);
        }

        /// <summary>Registra um evento na nota, e insiste como EmitirNotaAsync. Um dicionário leva sozinho a chave da nota.</summary>
        public Task<EventoRegistrado> RegistrarEventoAsync(string chave_acesso, IDictionary<string, object> pedido, Envio envio = null, CancellationToken parar = default(CancellationToken))
        {
            return RegistrarEventoAsync(chave_acesso, ComNome("chave_acesso", chave_acesso, pedido), envio, parar);
        }

        public Task<EventoRegistrado> RegistrarEventoAsync(string chave_acesso, byte[] pedido, Envio envio = null, CancellationToken parar = default(CancellationToken))
        {
            return Registrar(DaNota(Operacoes.registrarEvento, chave_acesso), pedido, envio, parar);
        }

        public Task<EventoRegistrado> RegistrarEventoPorProtocoloAsync(string numero_protocolo, IDictionary<string, object> pedido, Envio envio = null, CancellationToken parar = default(CancellationToken))
        {
            Pedido nomeado = new Pedido(Operacoes.registrarEventoPorProtocolo).Nome("numero_protocolo", numero_protocolo);
            return Registrar(nomeado, ComNome("numero_protocolo", numero_protocolo, pedido), envio, parar);
        }

        public async Task<EventosListados> ListarEventosAsync(string chave_acesso, CancellationToken parar = default(CancellationToken))
        {
            return new EventosListados(await Ler(DaNota(Operacoes.listarEventos, chave_acesso), parar).ConfigureAwait(false));
        }

        public async Task<Evento> ConsultarEventoAsync(string chave_acesso, string tipo_evento, long numero_sequencial, CancellationToken parar = default(CancellationToken))
        {
            JsonElement dados = await Ler(DoEvento(chave_acesso, tipo_evento, numero_sequencial), parar).ConfigureAwait(false);
            return new EventoConsultado(dados).evento;
        }

        /// <summary>Consulta até que esperar não adiante mais; o que foi feito do evento diz status_evento.</summary>
        public Task<Evento> AcompanharEventoAsync(string chave_acesso, string tipo_evento, long numero_sequencial, TimeSpan? prazo = null, CancellationToken parar = default(CancellationToken))
        {
            return Acompanhar(
                () => DoEvento(chave_acesso, tipo_evento, numero_sequencial),
                dados => new EventoConsultado(dados).evento,
                lido => lido.acao_sugerida != "aguardar" && lido.acao_sugerida != "retentar",
                prazo,
                parar);
        }

        /// <summary>O PDF de uma nota autorizada.</summary>
        public async Task<byte[]> BaixarDanfseAsync(string chave_acesso, CancellationToken parar = default(CancellationToken))
        {
            Pedido pedido = DaNota(Operacoes.baixarDanfse, chave_acesso);
            pedido.Aceito = "application/pdf";
            pedido.IsJson = false;
            return (await Responder(pedido, parar).ConfigureAwait(false)).Corpo;
        }

        /// <summary>
        /// Pede um token para um CNPJ ou CPF; só esta resposta o mostra. Em produção o pedido vai assinado, e serve uma vez.
        /// </summary>
        /// <param name="ambiente">O do município (padrão: homologacao em integracao e em ensaio-xxxxxx, producao nos outros).</param>
        public async Task<TokenPedido> PedirTokenAsync(string documento, IEnumerable<string> escopos = null, int? validadeDias = null, string ambiente = null, CancellationToken parar = default(CancellationToken))
        {
            bool ensaio = Regex.IsMatch(municipio, @"\A(?:integracao|ensaio-[a-z0-9]{6})\z");
            if (ambiente == null) ambiente = ensaio ? "homologacao" : "producao";
            bool assina = certificado != null && ambiente == "producao";
            var dados = new Dictionary<string, object> { { "documento", documento } };
            if (escopos != null) dados.Add("escopos", escopos.ToArray());
            if (validadeDias != null) dados.Add("validade_dias", validadeDias.Value);
            if (assina)
            {
                dados.Add("acao", "criar");
                dados.Add("municipio", municipio);
                dados.Add("ambiente", ambiente);
                dados.Add("emitido_em", DateTime.UtcNow.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'"));
                dados.Add("pedido", Guid.NewGuid().ToString());
            }
            Pedido pedido = new Pedido(Operacoes.pedirToken).Json(dados);
            pedido.Exige = "token";
            if (assina)
            {
                pedido.Assinatura = Assinatura.AssinarCms(pedido.Corpo, certificado);
                pedido.Tentativas = 1;
            }
            return new TokenPedido(await Ler(pedido, parar).ConfigureAwait(false));
        }

        /// <summary>
        /// Uma página das notas do documento do token, ou do certificado. Os filtros são os da página "Listas"; cursor pede a seguinte.
        /// </summary>
        public async Task<NotasListadas> ListarNotasAsync(IDictionary<string, string> filtros = null, CancellationToken parar = default(CancellationToken))
        {
            var pedido = new Pedido(Operacoes.listarNotas);
            foreach (KeyValuePair<string, string> um in filtros ?? new Dictionary<string, string>()) pedido.Consulta(um.Key, um.Value);
            return new NotasListadas(await Ler(pedido, parar).ConfigureAwait(false));
        }

        /// <summary>O que mudou desde um cursor, ou o que mudar em espera segundos (até 25). Guarde o cursor depois de tratar.</summary>
        public async Task<MudancasSeguidas> SeguirMudancasAsync(string desde = null, int espera = 0, CancellationToken parar = default(CancellationToken))
        {
            if (espera < 0 || espera > 25) throw new ArgumentException("espera são segundos, de 0 a 25.");
            Pedido pedido = new Pedido(Operacoes.seguirMudancas).Consulta("desde", desde).Consulta("espera", espera == 0 ? null : espera.ToString());
            pedido.Exige = "cursor";
            return new MudancasSeguidas(await Ler(pedido, parar).ConfigureAwait(false));
        }

        /// <summary>
        /// Faz um ambiente só seu; num cliente de integracao. Só esta resposta mostra a chave do dono. Nome, relogio e o rigor vão nos dados.
        /// </summary>
        public async Task<AmbienteCriado> CriarAmbienteAsync(IDictionary<string, object> dados = null, CancellationToken parar = default(CancellationToken))
        {
            Pedido pedido = new Pedido(Operacoes.criarAmbiente).Json(dados ?? new Dictionary<string, object>());
            pedido.Exige = "chave";
            return new AmbienteCriado(await Ler(pedido, parar).ConfigureAwait(false));
        }

        /// <summary>Muda o relógio (relogio ou avancar), que só avança, e o rigor. Tokens que vencem até a hora nova deixam de servir.</summary>
        public async Task<Ambiente> AlterarAmbienteAsync(string chave, IDictionary<string, object> dados, CancellationToken parar = default(CancellationToken))
        {
            Pedido pedido = new Pedido(Operacoes.alterarAmbiente).Json(dados);
            pedido.Token = chave;
            return new AmbienteAlterado(await Ler(pedido, parar).ConfigureAwait(false)).ambiente;
        }

        /// <summary>A DPS de um cenário, em XML, pronta para EmitirNotaAsync.</summary>
        public async Task<byte[]> DocumentoDaPersonaAsync(string chave, string persona, string cenario, CancellationToken parar = default(CancellationToken))
        {
            Pedido pedido = new Pedido(Operacoes.documentoDaPersona).Nome("persona", persona).Nome("cenario", cenario);
            pedido.Token = chave;
            pedido.Aceito = "application/xml";
            pedido.IsJson = false;
            return (await Responder(pedido, parar).ConfigureAwait(false)).Corpo;
        }

        /// <summary>O identificador de uma DPS: município emissor (IBGE), CNPJ ou CPF do prestador sem pontuação, série e número.</summary>
        public static string IdentificadorDaDps(string municipio, string documento, string serie, string numero)
        {
            string tipo = documento.Length == 11 ? "1" : "2";
            return "DPS" + municipio + tipo + documento.PadLeft(14, '0') + serie.PadLeft(5, '0') + numero.PadLeft(15, '0');
        }

        async Task<EventoRegistrado> Registrar(Pedido pedido, byte[] corpo, Envio envio, CancellationToken parar)
        {
            ComCorpo(pedido, corpo, envio).Exige = "chave_acesso";
            if (pedido.Tipo != "json") throw new ArgumentException("Um evento se registra com um corpo JSON.");
            Resposta resposta = await Responder(pedido, parar).ConfigureAwait(false);
            return new EventoRegistrado(Leitura.Objeto(resposta.Corpo).Value) { repetida = Repetida(resposta) };
        }

        static bool Repetida(Resposta resposta)
        {
            return resposta.Cabecalho("X-NFSe-Repetida") == "true";
        }

        static Pedido DaNota(Operacao operacao, string chave_acesso)
        {
            return new Pedido(operacao).Nome("chave_acesso", chave_acesso);
        }

        static Pedido DoEvento(string chave_acesso, string tipo_evento, long numero_sequencial)
        {
            return DaNota(Operacoes.consultarEvento, chave_acesso).Nome("tipo_evento", tipo_evento).Nome("num_seq_evento", numero_sequencial.ToString());
        }

        static byte[] ComNome(string nome, string valor, IDictionary<string, object> pedido)
        {
            var dados = new Dictionary<string, object>(pedido);
            if (!dados.ContainsKey(nome)) dados.Add(nome, valor);
            return JsonSerializer.SerializeToUtf8Bytes(dados);
        }

        Pedido ComCorpo(Pedido pedido, byte[] corpo, Envio envio)
        {
            pedido.Envio = envio ?? new Envio();
            string inicio = Encoding.GetEncoding(28591).GetString(corpo, 0, Math.Min(256, corpo.Length));
            inicio = Regex.Replace(inicio, "^(\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)|[\0\\s]", "");
            if (inicio.StartsWith("{", StringComparison.Ordinal) || inicio.StartsWith("[", StringComparison.Ordinal))
            {
                pedido.Tipo = "json";
                pedido.Corpo = corpo;
                pedido.Assinatura = pedido.Envio.Assinatura ?? (certificado == null ? null : Assinatura.AssinarCms(corpo, certificado));
                return pedido;
            }
            if (pedido.Envio.Assinatura != null) throw new ArgumentException("Assinatura é de um corpo JSON; a de um XML vai dentro dele.");
            pedido.Tipo = "xml";
            pedido.Corpo = certificado == null || Assinatura.EstaAssinado(corpo) ? corpo : Assinatura.AssinarXml(corpo, certificado);
            return pedido;
        }

        async Task<JsonElement> Ler(Pedido pedido, CancellationToken parar)
        {
            return Leitura.Objeto((await Responder(pedido, parar).ConfigureAwait(false)).Corpo).Value;
        }

        /// <summary>Calls as often as it takes, with the same bytes under the same key, until one of the three outcomes.</summary>
        async Task<Resposta> Responder(Pedido pedido, CancellationToken parar)
        {
            Operacao operacao = pedido.Operacao;
            var cabecalhos = new Dictionary<string, string> { { "Accept", pedido.Aceito } };
            string token = operacao.ComCertificado ? pedido.Token ?? opcoes.Token : null;
            if (token != null) cabecalhos.Add("Authorization", "Bearer " + token);
            if (pedido.Assinatura != null) cabecalhos.Add(operacao.Assinatura, pedido.Assinatura);
            if (pedido.Envio.Simular != null) cabecalhos.Add("X-NFSe-Simular", pedido.Envio.Simular);
            Repeticao repeticao = null;
            if (operacao.SeRepete)
            {
                string chave = pedido.Envio.Chave ?? Guid.NewGuid().ToString();
                if (!Regex.IsMatch(chave, @"\A[!-~](?:[ -~]{0,253}[!-~])?\z"))
                {
                    throw new ArgumentException("Chave tem de 1 a 255 caracteres ASCII, sem espaço no começo nem no fim.");
                }
                cabecalhos.Add("Idempotency-Key", chave);
                repeticao = new Repeticao(chave, pedido.Corpo, pedido.Assinatura);
            }
            foreach (string valor in cabecalhos.Values)
            {
                if (!Regex.IsMatch(valor, @"\A[ -~]*\z")) throw new ArgumentException("Um cabeçalho só leva caracteres ASCII.");
            }
            DateTime fim = DateTime.UtcNow + opcoes.Prazo;
            bool emDuvida = false;
            for (int vez = 1; ; vez++)
            {
                parar.ThrowIfCancellationRequested();
                TimeSpan limite = Menor(opcoes.TempoLimite, fim - DateTime.UtcNow);
                object chegou = await Enviar(operacao, pedido, cabecalhos, limite, parar).ConfigureAwait(false);
                var resposta = chegou as Resposta;
                Falha falha = chegou as Falha ?? LerResposta(resposta, pedido);
                if (falha == null) return resposta;
                // A reading leaves no doubt behind: it may be put again whatever became of it.
                emDuvida = emDuvida || (falha.Desfecho == "indeterminado" && repeticao != null);
                double dobro = Math.Min(opcoes.PrimeiraEspera.TotalSeconds * Math.Pow(2, vez - 1), opcoes.EsperaMaxima.TotalSeconds);
                TimeSpan espera = falha.Resposta?.Espera() ?? TimeSpan.FromSeconds(dobro * (0.5 + Sorte() / 2));
                bool acabou = vez >= (pedido.Tentativas ?? opcoes.Tentativas) || DateTime.UtcNow + espera >= fim || parar.IsCancellationRequested;
                if (falha.SeRepete && !acabou)
                {
                    try { await Task.Delay(espera, parar).ConfigureAwait(false); }
                    catch (OperationCanceledException) { acabou = true; }
                }
                if (!falha.SeRepete || acabou) throw Desfecho(operacao.Nome, vez, falha, emDuvida, repeticao);
            }
        }

        static TimeSpan Menor(TimeSpan um, TimeSpan outro)
        {
            TimeSpan menor = um < outro ? um : outro;
            return menor < TimeSpan.FromMilliseconds(1) ? TimeSpan.FromMilliseconds(1) : menor;
        }

        static double Sorte()
        {
            lock (Acaso) return Acaso.NextDouble();
        }

        /// <summary>One exchange, within a time for the whole of it: a Resposta, or a Falha.</summary>
        async Task<object> Enviar(Operacao operacao, Pedido pedido, Dictionary<string, string> cabecalhos, TimeSpan limite, CancellationToken parar)
        {
            using (var tempo = CancellationTokenSource.CreateLinkedTokenSource(parar))
            using (var mensagem = new HttpRequestMessage(new HttpMethod(operacao.Metodo), endereco + pedido.Caminho))
            {
                tempo.CancelAfter(limite);
                foreach (KeyValuePair<string, string> um in cabecalhos) mensagem.Headers.TryAddWithoutValidation(um.Key, um.Value);
                if (pedido.Corpo != null)
                {
                    mensagem.Content = new ByteArrayContent(pedido.Corpo);
                    mensagem.Content.Headers.ContentType = new MediaTypeHeaderValue("application/" + pedido.Tipo);
                }
                try
                {
                    HttpClient por = operacao.ComCertificado && !cabecalhos.ContainsKey("Authorization") ? identificado : http;
                    using (HttpResponseMessage veio = await por.SendAsync(mensagem, tempo.Token).ConfigureAwait(false))
                    {
                        byte[] corpo = await veio.Content.ReadAsByteArrayAsync().ConfigureAwait(false);
                        var lidos = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
                        foreach (var um in veio.Headers) lidos[um.Key] = um.Value.First();
                        return new Resposta { Status = (int)veio.StatusCode, Cabecalhos = lidos, Corpo = corpo };
                    }
                }
                catch (OperationCanceledException erro)
                {
                    string motivo = parar.IsCancellationRequested ? "A chamada foi interrompida depois de sair." : "Não houve resposta: o tempo se esgotou.";
                    return new Falha { Desfecho = "indeterminado", Motivo = motivo, SeRepete = !parar.IsCancellationRequested, Causa = erro };
                }
                catch (Exception erro) when (erro is HttpRequestException || erro is IOException || erro is WebException)
                {
                    return NaoSaiu(erro)
                        ? new Falha { Motivo = "Não houve conexão (" + erro.GetBaseException().Message + ").", SeRepete = true, Causa = erro }
                        : new Falha { Desfecho = "indeterminado", Motivo = "Não houve resposta (" + erro.GetBaseException().Message + ").", SeRepete = true, Causa = erro };
                }
            }
        }

        /// <summary>Whether the connection, or its TLS, never stood: then nothing was sent.</summary>
        static bool NaoSaiu(Exception erro)
        {
            for (Exception um = erro; um != null; um = um.InnerException)
            {
                if (um is AuthenticationException) return true;
                switch ((um as SocketException)?.SocketErrorCode)
                {
                    case SocketError.ConnectionRefused:
                    case SocketError.HostNotFound:
                    case SocketError.TryAgain:
                    case SocketError.NoData:
                    case SocketError.HostUnreachable:
                    case SocketError.NetworkUnreachable:
                        return true;
                }
                switch ((um as WebException)?.Status)
                {
                    case WebExceptionStatus.ConnectFailure:
                    case WebExceptionStatus.NameResolutionFailure:
                    case WebExceptionStatus.TrustFailure:
                    case WebExceptionStatus.SecureChannelFailure:
                        return true;
                }
            }
            return false;
        }

        /// <summary>The table of the page "Os desfechos de um envio", row by row; null for an answer.</summary>
        static Falha LerResposta(Resposta resposta, Pedido pedido)
        {
            int status = resposta.Status;
            if (status == pedido.Aceita) return null;
            JsonElement? dados = Leitura.Objeto(resposta.Corpo);
            if (status >= 200 && status < 300)
            {
                bool inteira = dados != null && (pedido.Exige == null || Leitura.Texto(dados.Value, pedido.Exige) != null);
                if (!pedido.IsJson || inteira) return null;
                string estranha = "A resposta (HTTP " + status + ") não é inteira, ou não é deste serviço. Confira url.";
                return new Falha { Desfecho = "indeterminado", Motivo = estranha, SeRepete = true, Resposta = resposta };
            }
            string codigo = dados == null ? null : Leitura.Texto(dados.Value, "codigo_erro");
            string mensagem = dados == null ? null : Leitura.Texto(dados.Value, "mensagem");
            bool isEnvelope = codigo != null && mensagem != null && Leitura.Livre(dados.Value, "erros")?.ValueKind == JsonValueKind.Array;
            string dito = "HTTP " + status + (isEnvelope ? ", " + codigo + ": " + mensagem : "");
            var falha = new Falha { Resposta = resposta, Envelope = isEnvelope ? dados : null };
            if (status >= 500)
            {
                falha.Desfecho = "indeterminado";
                falha.Motivo = "O serviço falhou (" + dito + ").";
                falha.SeRepete = status != 501 && status != 505;
            }
            else if (status == 409)
            {
                falha.Desfecho = "indeterminado";
                falha.Motivo = "Há outra igual em andamento (" + dito + ").";
                falha.SeRepete = true;
            }
            else if (status == 408 || status == 429)
            {
                falha.Motivo = "O serviço não atendeu (" + dito + ").";
                falha.SeRepete = true;
            }
            else if (!isEnvelope || status == 413)
            {
                falha.Motivo = (status == 413 ? "O corpo é grande demais" : "Respondeu algo que não é deste serviço") + " (" + dito + "). Confira url.";
            }
            else
            {
                falha.Desfecho = "recusado";
                falha.Motivo = codigo + ": " + mensagem;
            }
            return falha;
        }

        /// <summary>
        /// What a call ends with. A doubt ends by a refusal of the document (400, 422), which under one key is the answer of the first try;
        /// what is refused before the key is looked at, as a signature is, says nothing of a try that went before.
        /// </summary>
        static ErroDoEmissor Desfecho(string operacao, int vez, Falha falha, bool emDuvida, Repeticao repeticao)
        {
            int status = falha.Resposta?.Status ?? 0;
            string codigo = falha.Envelope == null ? "" : Leitura.Texto(falha.Envelope.Value, "codigo_erro");
            bool encerra = (status == 400 || status == 422) && !Regex.IsMatch(codigo, @"\AE90[1-6]\z");
            if (falha.Desfecho == "recusado" && (!emDuvida || encerra)) return new Recusado(falha.Motivo, operacao, vez, falha);
            if (!emDuvida || repeticao == null) return new NaoEntregue(falha.Motivo, operacao, vez, falha);
            string texto = falha.Motivo + " Não se sabe se " + operacao + " foi feita: repita com a mesma chave, " + repeticao.Chave + ".";
            return new Indeterminado(texto, operacao, vez, falha, repeticao);
        }

        async Task<M> Acompanhar<M>(Func<Pedido> fonte, Func<JsonElement, M> novo, Func<M, bool> repousa, TimeSpan? prazo, CancellationToken parar)
        {
            TimeSpan tempo = prazo ?? TimeSpan.FromMinutes(5);
            DateTime fim = DateTime.UtcNow + tempo;
            TimeSpan pausa = TimeSpan.FromMilliseconds(250);
            while (true)
            {
                await Task.Delay(Menor(TimeSpan.FromSeconds(pausa.TotalSeconds * (1 + Sorte() / 4)), fim - DateTime.UtcNow), parar).ConfigureAwait(false);
                pausa = Menor(TimeSpan.FromSeconds(pausa.TotalSeconds * 2), TimeSpan.FromMinutes(1));
                try
                {
                    Pedido pedido = fonte();
                    pedido.Tentativas = 1;
                    Resposta resposta = await Responder(pedido, parar).ConfigureAwait(false);
                    M lida = novo(Leitura.Objeto(resposta.Corpo).Value);
                    if (repousa(lida)) return lida;
                    TimeSpan pedida = resposta.Espera() ?? TimeSpan.Zero;
                    if (pedida > pausa) pausa = pedida;
                }
                catch (NaoEntregue)
                {
                    // A service that is away for a moment ends nothing.
                }
                if (DateTime.UtcNow >= fim) throw new AindaEmAndamento(tempo);
            }
        }

        HttpClient Conexoes(Certificado mostrado)
        {
            var conexao = new HttpClientHandler { AllowAutoRedirect = false };
            if (mostrado != null)
            {
                conexao.ClientCertificateOptions = ClientCertificateOption.Manual;
                conexao.ClientCertificates.Add(mostrado.Proprio);
            }
            X509Certificate2Collection autoridades = opcoes.Autoridades;
            if (autoridades != null)
            {
                conexao.ServerCertificateCustomValidationCallback = (pedido, servidor, cadeia, problemas) => Confia(servidor, problemas, autoridades);
            }
            return new HttpClient(conexao) { Timeout = Timeout.InfiniteTimeSpan, MaxResponseContentBufferSize = TamanhoMaximo };
        }

        /// <summary>A server of that name whose chain ends in one of the authorities that were given, whatever the system trusts.</summary>
        static bool Confia(X509Certificate2 servidor, SslPolicyErrors problemas, X509Certificate2Collection autoridades)
        {
            if (servidor == null || (problemas & ~SslPolicyErrors.RemoteCertificateChainErrors) != 0) return false;
            var cadeia = new X509Chain();
            cadeia.ChainPolicy.ExtraStore.AddRange(autoridades);
            cadeia.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
            cadeia.ChainPolicy.VerificationFlags = X509VerificationFlags.AllowUnknownCertificateAuthority;
            if (!cadeia.Build(servidor)) return false;
            byte[] ultima = cadeia.ChainElements[cadeia.ChainElements.Count - 1].Certificate.RawData;
            return autoridades.Cast<X509Certificate2>().Any(um => um.RawData.SequenceEqual(ultima));
        }

        internal static string Segmento(string nome, string valor)
        {
            if (string.IsNullOrEmpty(valor) || valor == "." || valor == "..") throw new ArgumentException(nome + " não foi informado.");
            return Uri.EscapeDataString(valor);
        }
    }

    // As respostas. O que um serviço mais novo diz a mais não se lê; o que falta é nulo.

    internal static class Leitura
    {
        /// <summary>Null where the bytes are no JSON object.</summary>
        internal static JsonElement? Objeto(byte[] corpo)
        {
            try
            {
                JsonElement raiz = JsonDocument.Parse(new UTF8Encoding(false, true).GetString(corpo)).RootElement;
                return raiz.ValueKind == JsonValueKind.Object ? raiz : (JsonElement?)null;
            }
            catch (Exception erro) when (erro is JsonException || erro is DecoderFallbackException)
            {
                return null;
            }
        }

        internal static JsonElement? Livre(JsonElement dados, string nome)
        {
            JsonElement valor;
            return dados.TryGetProperty(nome, out valor) && valor.ValueKind != JsonValueKind.Null ? valor : (JsonElement?)null;
        }

        internal static string Texto(JsonElement dados, string nome)
        {
            JsonElement? valor = Livre(dados, nome);
            return valor?.ValueKind == JsonValueKind.String ? valor.Value.GetString() : null;
        }

        internal static long? Inteiro(JsonElement dados, string nome)
        {
            long lido = 0;
            JsonElement? valor = Livre(dados, nome);
            return valor?.ValueKind == JsonValueKind.Number && valor.Value.TryGetInt64(out lido) ? lido : (long?)null;
        }

        internal static bool? Booleano(JsonElement dados, string nome)
        {
            JsonValueKind? tipo = Livre(dados, nome)?.ValueKind;
            return tipo == JsonValueKind.True ? true : tipo == JsonValueKind.False ? false : (bool?)null;
        }

        internal static M Parte<M>(JsonElement dados, string nome, Func<JsonElement, M> novo) where M : class
        {
            JsonElement? valor = Livre(dados, nome);
            return valor?.ValueKind == JsonValueKind.Object ? novo(valor.Value) : null;
        }

        /// <summary>A list that is missing is an empty one.</summary>
        internal static IReadOnlyList<M> Lista<M>(JsonElement dados, string nome, Func<JsonElement, M> novo)
        {
            return Itens(dados, nome).Where(um => um.ValueKind == JsonValueKind.Object).Select(novo).ToList();
        }

        internal static IReadOnlyList<string> Textos(JsonElement dados, string nome)
        {
            return Itens(dados, nome).Where(um => um.ValueKind == JsonValueKind.String).Select(um => um.GetString()).ToList();
        }

        static IEnumerable<JsonElement> Itens(JsonElement dados, string nome)
        {
            JsonElement? valor = Livre(dados, nome);
            if (valor?.ValueKind != JsonValueKind.Array) yield break;
            foreach (JsonElement um in valor.Value.EnumerateArray()) yield return um;
        }
    }

    // GERADO por scripts/clientes-modelos.ts da descrição OpenAPI; não se edita daqui

    internal static class Operacoes
    {
        public static readonly Operacao emitirNota = new Operacao("emitirNota", "POST", "/api/v1/nfse/v101",
            true, false, "X-DPS-Assinatura");
        public static readonly Operacao validarDps = new Operacao("validarDps", "POST", "/api/v1/nfse/v101/validacao",
            false, false, "X-DPS-Assinatura");
        public static readonly Operacao consultarNota = new Operacao("consultarNota", "GET", "/api/v1/nfse/{chave_acesso}",
            false, false, null);
        public static readonly Operacao consultarNotaPorProtocolo = new Operacao("consultarNotaPorProtocolo", "GET", "/api/v1/nfse/protocolo/{numero_protocolo}",
            false, false, null);
        public static readonly Operacao consultarNotaPorDps = new Operacao("consultarNotaPorDps", "GET", "/api/v1/dps/{id}",
            false, true, null);
        public static readonly Operacao existeNotaDaDps = new Operacao("existeNotaDaDps", "HEAD", "/api/v1/dps/{id}",
            false, false, null);
        public static readonly Operacao registrarEvento = new Operacao("registrarEvento", "POST", "/api/v1/nfse/{chave_acesso}/eventos",
            true, false, "X-Evento-Assinatura");
        public static readonly Operacao registrarEventoPorProtocolo = new Operacao("registrarEventoPorProtocolo", "POST", "/api/v1/nfse/protocolo/{numero_protocolo}/eventos",
            true, false, "X-Evento-Assinatura");
        public static readonly Operacao listarEventos = new Operacao("listarEventos", "GET", "/api/v1/nfse/{chave_acesso}/eventos",
            false, false, null);
        public static readonly Operacao consultarEvento = new Operacao("consultarEvento", "GET", "/api/v1/nfse/{chave_acesso}/eventos/{tipo_evento}/{num_seq_evento}",
            false, false, null);
        public static readonly Operacao baixarDanfse = new Operacao("baixarDanfse", "GET", "/api/v1/danfse/{chave_acesso}",
            false, false, null);
        public static readonly Operacao pedirToken = new Operacao("pedirToken", "POST", "/api/v1/token",
            false, false, "X-Token-Assinatura");
        public static readonly Operacao listarNotas = new Operacao("listarNotas", "GET", "/api/v1/notas",
            false, true, null);
        public static readonly Operacao seguirMudancas = new Operacao("seguirMudancas", "GET", "/api/v1/mudancas",
            false, true, null);
        public static readonly Operacao criarAmbiente = new Operacao("criarAmbiente", "POST", "/api/v1/ambientes",
            false, false, null);
        public static readonly Operacao alterarAmbiente = new Operacao("alterarAmbiente", "PATCH", "/api/v1/ambiente",
            false, true, null);
        public static readonly Operacao documentoDaPersona = new Operacao("documentoDaPersona", "GET", "/api/v1/ambiente/personas/{persona}/{cenario}",
            false, true, null);
    }

    /// <summary>Resposta de emitirNota.</summary>
    public sealed class NotaEmitida
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>Segundo identificador da nota, estável.</summary>
        public string numero_protocolo { get; }
        /// <summary>Chave de acesso da NFS-e; não muda mais.</summary>
        public string chave_acesso { get; }
        /// <summary>true enquanto o ADN não autorizou a nota. O valor da chave é definitivo nos dois casos. Pode ser
        /// nulo.</summary>
        public bool? chave_acesso_provisoria { get; }
        /// <summary>A NFS-e como foi gerada, ainda não autorizada, com a DPS dentro. Pode ser nulo.</summary>
        public string xml_nfse { get; }
        /// <summary>O que não impediu a emissão e convém saber; quase sempre vazio.</summary>
        public IReadOnlyList<Aviso> avisos { get; }
        /// <summary>Se a resposta é de um envio de antes: nada foi feito agora.</summary>
        public bool? repetida { get; internal set; }

        internal NotaEmitida(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            chave_acesso_provisoria = Leitura.Booleano(dados, "chave_acesso_provisoria");
            xml_nfse = Leitura.Texto(dados, "xml_nfse");
            avisos = Leitura.Lista(dados, "avisos", um => new Aviso(um));
            repetida = Leitura.Booleano(dados, "repetida");
        }
    }

    /// <summary>Resposta de validarDps.</summary>
    public sealed class DpsValidada
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>Identificador que a DPS teria, pelo qual se consulta. O de uma DPS sem número é o que ela tomaria
        /// agora: outra emissão pode tomá-lo antes. Null, raramente, quando os mil números seguintes da série estão em
        /// uso. Pode ser nulo.</summary>
        public string identificador_dps { get; }
        /// <summary>Onde o ISSQN é devido: código IBGE, nome e UF; null quando a operação não tem incidência. Pode ser
        /// nulo.</summary>
        public MunicipioIncidencia municipio_incidencia { get; }
        /// <summary>Os valores do ISSQN e das retenções, em texto decimal; null o que não consta da nota.</summary>
        public Valores valores { get; }
        /// <summary>O cálculo oficial do IBS e da CBS, com os nomes em que o corpo JSON o declara; null sem o grupo ou
        /// sem alíquota publicada. Pode ser nulo.</summary>
        public ValoresIbsCbs ibscbs { get; }
        /// <summary>Cada passo do cálculo, na ordem: campo da nota, como se chegou a ele, e o valor.</summary>
        public IReadOnlyList<Passo> calculo { get; }
        /// <summary>O que não impediria a emissão e convém saber.</summary>
        public IReadOnlyList<Aviso> avisos { get; }

        internal DpsValidada(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            identificador_dps = Leitura.Texto(dados, "identificador_dps");
            municipio_incidencia = Leitura.Parte(dados, "municipio_incidencia", um => new MunicipioIncidencia(um));
            valores = Leitura.Parte(dados, "valores", um => new Valores(um));
            ibscbs = Leitura.Parte(dados, "ibscbs", um => new ValoresIbsCbs(um));
            calculo = Leitura.Lista(dados, "calculo", um => new Passo(um));
            avisos = Leitura.Lista(dados, "avisos", um => new Aviso(um));
        }
    }

    /// <summary>Resposta de consultarNota.</summary>
    public sealed class NotaConsultada
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>A nota.</summary>
        public NotaComCancelamento nota { get; }
        /// <summary>O protocolo da nota.</summary>
        public Protocolo protocolo { get; }

        internal NotaConsultada(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            nota = Leitura.Parte(dados, "nota", um => new NotaComCancelamento(um));
            protocolo = Leitura.Parte(dados, "protocolo", um => new Protocolo(um));
        }
    }

    /// <summary>Resposta de consultarNotaPorProtocolo.</summary>
    public sealed class NotaPorProtocolo
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>A nota.</summary>
        public Nota nota { get; }
        /// <summary>O protocolo da nota.</summary>
        public Protocolo protocolo { get; }
        /// <summary>true enquanto o ADN não autorizou a nota. O valor da chave é definitivo nos dois casos.</summary>
        public bool? chave_acesso_provisoria { get; }

        internal NotaPorProtocolo(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            nota = Leitura.Parte(dados, "nota", um => new Nota(um));
            protocolo = Leitura.Parte(dados, "protocolo", um => new Protocolo(um));
            chave_acesso_provisoria = Leitura.Booleano(dados, "chave_acesso_provisoria");
        }
    }

    /// <summary>Resposta de consultarNotaPorDps.</summary>
    public sealed class NotaPorDps
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>Identificador da DPS na forma canônica.</summary>
        public string id_dps { get; }
        /// <summary>Chave de acesso da NFS-e; não muda mais.</summary>
        public string chave_acesso { get; }
        /// <summary>Segundo identificador da nota, estável.</summary>
        public string numero_protocolo { get; }
        /// <summary>A nota.</summary>
        public Nota nota { get; }

        internal NotaPorDps(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            id_dps = Leitura.Texto(dados, "id_dps");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            nota = Leitura.Parte(dados, "nota", um => new Nota(um));
        }
    }

    /// <summary>Resposta de registrarEvento.</summary>
    public sealed class EventoRegistrado
    {
        /// <summary>Identificador do evento neste município. Dá saltos e não segue o tempo: para ordenar use
        /// data_hora_evento, ou numero_sequencial entre os do mesmo tipo.</summary>
        public long? id_evento { get; }
        /// <summary>Código nacional do tipo, 6 algarismos. Um de: 101101, 105102, 101103, 105104, 105105, 202201,
        /// 203202, 204203, 205204, 202205, 203206, 204207, 205208, 305101, 305102, 305103.</summary>
        public string codigo_tipo_evento { get; }
        /// <summary>Nome do tipo, como em tipo_evento da requisição. Um de: cancelamento,
        /// cancelamento_por_substituicao, solicitacao_analise_fiscal_para_cancelamento,
        /// cancelamento_deferido_por_analise_fiscal, cancelamento_indeferido_por_analise_fiscal, confirmacao_prestador,
        /// confirmacao_tomador, confirmacao_intermediario, confirmacao_tacita, rejeicao_prestador, rejeicao_tomador,
        /// rejeicao_intermediario, anulacao_rejeicao, cancelamento_por_oficio, bloqueio_por_oficio,
        /// desbloqueio_por_oficio.</summary>
        public string tipo_evento { get; }
        /// <summary>Sequência entre os eventos do tipo na nota, a partir de 1.</summary>
        public long? numero_sequencial { get; }
        /// <summary>Protocolo da nota.</summary>
        public string numero_protocolo { get; }
        /// <summary>Chave da nota.</summary>
        public string chave_acesso { get; }
        /// <summary>Quando foi registrado, ISO 8601.</summary>
        public string data_hora_evento { get; }
        /// <summary>Quando o ADN deu a palavra final; null até lá. Pode ser nulo.</summary>
        public string data_hora_processamento { get; }
        /// <summary>Desde quando espera a autorização da nota; null se não espera. Pode ser nulo.</summary>
        public string aguardando_desde { get; }
        /// <summary>Estado do evento. Um de: pendente, enviado, aguardando_autorizacao_nota, processado, rejeitado,
        /// erro, erro_reprocessamento, cancelado, dispensado.</summary>
        public string status_evento { get; }
        /// <summary>Número com que o ADN o recebeu; null até lá e na integração. Pode ser nulo.</summary>
        public string protocolo { get; }
        /// <summary>Código do primeiro motivo do ADN, ou null. Pode ser nulo.</summary>
        public string codigo_retorno { get; }
        /// <summary>O que o ADN disse, ou null. Pode ser nulo.</summary>
        public string mensagem_retorno { get; }
        /// <summary>Os motivos do ADN, sem segredos, cortados em 1000 caracteres e 3 níveis. Pode ser nulo.</summary>
        public JsonElement? erros_adn { get; }
        /// <summary>Novas tentativas automáticas feitas, de 0 a 3.</summary>
        public long? reprocessamentos_count { get; }
        /// <summary>Quando foi a última; null sem nenhuma. Pode ser nulo.</summary>
        public string ultimo_reprocessamento_em { get; }
        /// <summary>aguardar, retentar, consultar_suporte ou cancelado_ok. Um de: aguardar, retentar,
        /// consultar_suporte, cancelado_ok.</summary>
        public string acao_sugerida { get; }
        /// <summary>Quando vale a pena perguntar de novo, ISO 8601; null quando nada mais muda por si. Retry-After diz
        /// o mesmo em segundos. Pode ser nulo.</summary>
        public string proxima_consulta { get; }
        /// <summary>O que foi feito do evento; distingue o que cancelado_ok, em acao_sugerida, diz de uma só maneira.
        /// Um de: em_andamento, registrado, valido_no_municipio, recusado, retirado, dispensado, parado.</summary>
        public string desfecho { get; }
        /// <summary>Nome nacional do tipo.</summary>
        public string descricao_evento { get; }
        /// <summary>O que aconteceu, em uma frase.</summary>
        public string mensagem { get; }
        /// <summary>O que não impediu o registro e convém saber; quase sempre vazio.</summary>
        public IReadOnlyList<Aviso> avisos { get; }
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>Se a resposta é de um envio de antes: nada foi feito agora.</summary>
        public bool? repetida { get; internal set; }

        internal EventoRegistrado(JsonElement dados)
        {
            id_evento = Leitura.Inteiro(dados, "id_evento");
            codigo_tipo_evento = Leitura.Texto(dados, "codigo_tipo_evento");
            tipo_evento = Leitura.Texto(dados, "tipo_evento");
            numero_sequencial = Leitura.Inteiro(dados, "numero_sequencial");
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            data_hora_evento = Leitura.Texto(dados, "data_hora_evento");
            data_hora_processamento = Leitura.Texto(dados, "data_hora_processamento");
            aguardando_desde = Leitura.Texto(dados, "aguardando_desde");
            status_evento = Leitura.Texto(dados, "status_evento");
            protocolo = Leitura.Texto(dados, "protocolo");
            codigo_retorno = Leitura.Texto(dados, "codigo_retorno");
            mensagem_retorno = Leitura.Texto(dados, "mensagem_retorno");
            erros_adn = Leitura.Livre(dados, "erros_adn");
            reprocessamentos_count = Leitura.Inteiro(dados, "reprocessamentos_count");
            ultimo_reprocessamento_em = Leitura.Texto(dados, "ultimo_reprocessamento_em");
            acao_sugerida = Leitura.Texto(dados, "acao_sugerida");
            proxima_consulta = Leitura.Texto(dados, "proxima_consulta");
            desfecho = Leitura.Texto(dados, "desfecho");
            descricao_evento = Leitura.Texto(dados, "descricao_evento");
            mensagem = Leitura.Texto(dados, "mensagem");
            avisos = Leitura.Lista(dados, "avisos", um => new Aviso(um));
            status = Leitura.Texto(dados, "status");
            repetida = Leitura.Booleano(dados, "repetida");
        }
    }

    /// <summary>Resposta de listarEventos.</summary>
    public sealed class EventosListados
    {
        /// <summary>Quantos são.</summary>
        public long? total { get; }
        /// <summary>Os eventos.</summary>
        public IReadOnlyList<Evento> eventos { get; }
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }

        internal EventosListados(JsonElement dados)
        {
            total = Leitura.Inteiro(dados, "total");
            eventos = Leitura.Lista(dados, "eventos", um => new Evento(um));
            status = Leitura.Texto(dados, "status");
        }
    }

    /// <summary>Resposta de consultarEvento.</summary>
    public sealed class EventoConsultado
    {
        /// <summary>O evento.</summary>
        public Evento evento { get; }
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }

        internal EventoConsultado(JsonElement dados)
        {
            evento = Leitura.Parte(dados, "evento", um => new Evento(um));
            status = Leitura.Texto(dados, "status");
        }
    }

    /// <summary>Resposta de pedirToken.</summary>
    public sealed class TokenPedido
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>O token, que só esta resposta mostra.</summary>
        public string token { get; }
        /// <summary>Identificador do token, pelo qual se revoga; não é segredo.</summary>
        public string id { get; }
        /// <summary>CNPJ ou CPF em nome de quem o token pergunta.</summary>
        public string documento { get; }
        /// <summary>Para que serve: consultar, webhooks.</summary>
        public IReadOnlyList<string> escopos { get; }
        /// <summary>Quando foi dado.</summary>
        public string criado_em { get; }
        /// <summary>Até quando vale.</summary>
        public string expira_em { get; }

        internal TokenPedido(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            token = Leitura.Texto(dados, "token");
            id = Leitura.Texto(dados, "id");
            documento = Leitura.Texto(dados, "documento");
            escopos = Leitura.Textos(dados, "escopos");
            criado_em = Leitura.Texto(dados, "criado_em");
            expira_em = Leitura.Texto(dados, "expira_em");
        }
    }

    /// <summary>Resposta de listarNotas.</summary>
    public sealed class NotasListadas
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>As notas da página, sem o XML.</summary>
        public IReadOnlyList<NotaListada> notas { get; }
        /// <summary>Para pedir a página seguinte; null quando não há. Pode ser nulo.</summary>
        public string cursor { get; }
        /// <summary>Quantos itens há, se contar=sim; senão null. Pode ser nulo.</summary>
        public Contagem contagem { get; }
        /// <summary>O que convém saber da busca; quase sempre vazio.</summary>
        public IReadOnlyList<string> observacoes { get; }

        internal NotasListadas(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            notas = Leitura.Lista(dados, "notas", um => new NotaListada(um));
            cursor = Leitura.Texto(dados, "cursor");
            contagem = Leitura.Parte(dados, "contagem", um => new Contagem(um));
            observacoes = Leitura.Textos(dados, "observacoes");
        }
    }

    /// <summary>Resposta de seguirMudancas.</summary>
    public sealed class MudancasSeguidas
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>As mudanças, na ordem em que se contam a todos.</summary>
        public IReadOnlyList<Mudanca> mudancas { get; }
        /// <summary>O lugar depois delas: guarde-o, e peça desde ele na próxima vez.</summary>
        public string cursor { get; }
        /// <summary>true quando já há mais a contar.</summary>
        public bool? mais { get; }

        internal MudancasSeguidas(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            mudancas = Leitura.Lista(dados, "mudancas", um => new Mudanca(um));
            cursor = Leitura.Texto(dados, "cursor");
            mais = Leitura.Booleano(dados, "mais");
        }
    }

    /// <summary>Resposta de criarAmbiente.</summary>
    public sealed class AmbienteCriado
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>O ambiente.</summary>
        public Ambiente ambiente { get; }
        /// <summary>A chave do dono, para Authorization: Bearer.</summary>
        public string chave { get; }

        internal AmbienteCriado(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            ambiente = Leitura.Parte(dados, "ambiente", um => new Ambiente(um));
            chave = Leitura.Texto(dados, "chave");
        }
    }

    /// <summary>Resposta de alterarAmbiente.</summary>
    public sealed class AmbienteAlterado
    {
        /// <summary>OK em toda resposta de sucesso.</summary>
        public string status { get; }
        /// <summary>O ambiente.</summary>
        public Ambiente ambiente { get; }

        internal AmbienteAlterado(JsonElement dados)
        {
            status = Leitura.Texto(dados, "status");
            ambiente = Leitura.Parte(dados, "ambiente", um => new Ambiente(um));
        }
    }

    public sealed class EnvelopeDeErro
    {
        /// <summary>Código do primeiro erro. Decida por ele e pelo status HTTP.</summary>
        public string codigo_erro { get; }
        /// <summary>O primeiro erro em uma frase; o texto pode mudar.</summary>
        public string mensagem { get; }
        /// <summary>Pormenores do primeiro erro: um texto, ou um objeto com dados.</summary>
        public JsonElement? detalhes { get; }
        /// <summary>Quando foi respondido, no fuso do município.</summary>
        public string timestamp { get; }
        /// <summary>Campo, parâmetro ou cabeçalho de que o primeiro erro fala. Pode ser nulo.</summary>
        public string campo { get; }
        /// <summary>Todos os erros da etapa que recusou, na ordem do leiaute.</summary>
        public IReadOnlyList<Erro> erros { get; }
        /// <summary>Os nomes que valem, quando o pedido não é um deles. Pode ser nulo.</summary>
        public IReadOnlyList<string> valores_validos { get; }
        /// <summary>Na validação sem emitir, em produção, sem a assinatura válida do prestador ou com a estrutura
        /// errada: o que não foi olhado, e que a emissão ainda pode recusar. Pode ser nulo.</summary>
        public IReadOnlyList<string> nao_conferido { get; }
        /// <summary>Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município
        /// publica. Onde o ISSQN é devido: código IBGE, nome e UF; null quando a operação não tem incidência. Pode ser
        /// nulo.</summary>
        public MunicipioIncidencia municipio_incidencia { get; }
        /// <summary>Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município
        /// publica. Os valores do ISSQN e das retenções, em texto decimal; null o que não consta da nota. Pode ser
        /// nulo.</summary>
        public Valores valores { get; }
        /// <summary>Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município
        /// publica. O cálculo oficial do IBS e da CBS, com os nomes em que o corpo JSON o declara; null sem o grupo ou
        /// sem alíquota publicada. Pode ser nulo.</summary>
        public ValoresIbsCbs ibscbs { get; }
        /// <summary>Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município
        /// publica. Cada passo do cálculo, na ordem: campo da nota, como se chegou a ele, e o valor. Pode ser
        /// nulo.</summary>
        public IReadOnlyList<Passo> calculo { get; }
        /// <summary>Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município
        /// publica. O que não impediria a emissão e convém saber. Pode ser nulo.</summary>
        public IReadOnlyList<Aviso> avisos { get; }

        internal EnvelopeDeErro(JsonElement dados)
        {
            codigo_erro = Leitura.Texto(dados, "codigo_erro");
            mensagem = Leitura.Texto(dados, "mensagem");
            detalhes = Leitura.Livre(dados, "detalhes");
            timestamp = Leitura.Texto(dados, "timestamp");
            campo = Leitura.Texto(dados, "campo");
            erros = Leitura.Lista(dados, "erros", um => new Erro(um));
            valores_validos = Leitura.Textos(dados, "valores_validos");
            nao_conferido = Leitura.Textos(dados, "nao_conferido");
            municipio_incidencia = Leitura.Parte(dados, "municipio_incidencia", um => new MunicipioIncidencia(um));
            valores = Leitura.Parte(dados, "valores", um => new Valores(um));
            ibscbs = Leitura.Parte(dados, "ibscbs", um => new ValoresIbsCbs(um));
            calculo = Leitura.Lista(dados, "calculo", um => new Passo(um));
            avisos = Leitura.Lista(dados, "avisos", um => new Aviso(um));
        }
    }

    public sealed class Nota
    {
        /// <summary>Identificador da nota neste serviço.</summary>
        public long? id { get; }
        /// <summary>Número sequencial da NFS-e (nNFSe), em texto: o de numero_dps, a partir da autorização; null até
        /// lá. Pode ser nulo.</summary>
        public string numero { get; }
        /// <summary>Série da DPS: a enviada, ou 70000.</summary>
        public string serie_dps { get; }
        /// <summary>Apesar do nome, o número sequencial da NFS-e (nNFSe). O número da própria DPS está em
        /// numero_dps_nacional.</summary>
        public long? numero_dps { get; }
        /// <summary>Série da DPS como foi ao ADN: a enviada, ou 70000; null até o envio. Pode ser nulo.</summary>
        public string serie_dps_nacional { get; }
        /// <summary>O número da própria DPS (nDPS) como foi ao ADN: o enviado, ou o que o serviço lhe deu; é o da
        /// consulta por DPS. Null até o envio. Pode ser nulo.</summary>
        public string numero_dps_nacional { get; }
        /// <summary>Chave de acesso da NFS-e.</summary>
        public string chave_acesso { get; }
        /// <summary>Identificador de infNFSe: NFS e a chave de acesso.</summary>
        public string identificador { get; }
        /// <summary>rascunho até a autorização, e também da nota que o ADN recusou (protocolo.status diz qual). Um de:
        /// rascunho, autorizada, cancelada.</summary>
        public string status { get; }
        /// <summary>Versão do leiaute: 1.01.</summary>
        public string versao { get; }
        /// <summary>Quando foi emitida, no fuso do município.</summary>
        public string data_emissao { get; }
        /// <summary>Competência.</summary>
        public string data_competencia { get; }
        /// <summary>cStat da NFS-e: 100, ou 107 a de um MEI; null até a autorização. Pode ser nulo.</summary>
        public long? codigo_situacao_nfse { get; }
        /// <summary>CNPJ ou CPF do prestador, sem pontuação.</summary>
        public string prestador_cpf_cnpj { get; }
        /// <summary>Nome do prestador.</summary>
        public string prestador_razao_social { get; }
        /// <summary>Inscrição municipal do prestador. Pode ser nulo.</summary>
        public string prestador_inscricao_municipal { get; }
        /// <summary>CNPJ ou CPF do tomador; null quando não tem. Pode ser nulo.</summary>
        public string tomador_cpf_cnpj { get; }
        /// <summary>Nome do tomador; null sem tomador. Pode ser nulo.</summary>
        public string tomador_razao_social { get; }
        /// <summary>Preço do serviço.</summary>
        public string valor_servico { get; }
        /// <summary>ISSQN; 0.00 quando não consta da nota.</summary>
        public string valor_issqn { get; }
        /// <summary>Base do ISSQN; 0.00 quando não consta da nota.</summary>
        public string valor_base_calculo { get; }
        /// <summary>Alíquota em percentual; 0.00 quando não consta.</summary>
        public string aliquota_issqn { get; }
        /// <summary>A NFS-e autorizada; até a autorização, a DPS recebida.</summary>
        public string xml_nota { get; }

        internal Nota(JsonElement dados)
        {
            id = Leitura.Inteiro(dados, "id");
            numero = Leitura.Texto(dados, "numero");
            serie_dps = Leitura.Texto(dados, "serie_dps");
            numero_dps = Leitura.Inteiro(dados, "numero_dps");
            serie_dps_nacional = Leitura.Texto(dados, "serie_dps_nacional");
            numero_dps_nacional = Leitura.Texto(dados, "numero_dps_nacional");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            identificador = Leitura.Texto(dados, "identificador");
            status = Leitura.Texto(dados, "status");
            versao = Leitura.Texto(dados, "versao");
            data_emissao = Leitura.Texto(dados, "data_emissao");
            data_competencia = Leitura.Texto(dados, "data_competencia");
            codigo_situacao_nfse = Leitura.Inteiro(dados, "codigo_situacao_nfse");
            prestador_cpf_cnpj = Leitura.Texto(dados, "prestador_cpf_cnpj");
            prestador_razao_social = Leitura.Texto(dados, "prestador_razao_social");
            prestador_inscricao_municipal = Leitura.Texto(dados, "prestador_inscricao_municipal");
            tomador_cpf_cnpj = Leitura.Texto(dados, "tomador_cpf_cnpj");
            tomador_razao_social = Leitura.Texto(dados, "tomador_razao_social");
            valor_servico = Leitura.Texto(dados, "valor_servico");
            valor_issqn = Leitura.Texto(dados, "valor_issqn");
            valor_base_calculo = Leitura.Texto(dados, "valor_base_calculo");
            aliquota_issqn = Leitura.Texto(dados, "aliquota_issqn");
            xml_nota = Leitura.Texto(dados, "xml_nota");
        }
    }

    public sealed class NotaComCancelamento
    {
        /// <summary>Identificador da nota neste serviço.</summary>
        public long? id { get; }
        /// <summary>Número sequencial da NFS-e (nNFSe), em texto: o de numero_dps, a partir da autorização; null até
        /// lá. Pode ser nulo.</summary>
        public string numero { get; }
        /// <summary>Série da DPS: a enviada, ou 70000.</summary>
        public string serie_dps { get; }
        /// <summary>Apesar do nome, o número sequencial da NFS-e (nNFSe). O número da própria DPS está em
        /// numero_dps_nacional.</summary>
        public long? numero_dps { get; }
        /// <summary>Série da DPS como foi ao ADN: a enviada, ou 70000; null até o envio. Pode ser nulo.</summary>
        public string serie_dps_nacional { get; }
        /// <summary>O número da própria DPS (nDPS) como foi ao ADN: o enviado, ou o que o serviço lhe deu; é o da
        /// consulta por DPS. Null até o envio. Pode ser nulo.</summary>
        public string numero_dps_nacional { get; }
        /// <summary>Chave de acesso da NFS-e.</summary>
        public string chave_acesso { get; }
        /// <summary>Identificador de infNFSe: NFS e a chave de acesso.</summary>
        public string identificador { get; }
        /// <summary>rascunho até a autorização, e também da nota que o ADN recusou (protocolo.status diz qual). Um de:
        /// rascunho, autorizada, cancelada.</summary>
        public string status { get; }
        /// <summary>Versão do leiaute: 1.01.</summary>
        public string versao { get; }
        /// <summary>Quando foi emitida, no fuso do município.</summary>
        public string data_emissao { get; }
        /// <summary>Competência.</summary>
        public string data_competencia { get; }
        /// <summary>cStat da NFS-e: 100, ou 107 a de um MEI; null até a autorização. Pode ser nulo.</summary>
        public long? codigo_situacao_nfse { get; }
        /// <summary>CNPJ ou CPF do prestador, sem pontuação.</summary>
        public string prestador_cpf_cnpj { get; }
        /// <summary>Nome do prestador.</summary>
        public string prestador_razao_social { get; }
        /// <summary>Inscrição municipal do prestador. Pode ser nulo.</summary>
        public string prestador_inscricao_municipal { get; }
        /// <summary>CNPJ ou CPF do tomador; null quando não tem. Pode ser nulo.</summary>
        public string tomador_cpf_cnpj { get; }
        /// <summary>Nome do tomador; null sem tomador. Pode ser nulo.</summary>
        public string tomador_razao_social { get; }
        /// <summary>Preço do serviço.</summary>
        public string valor_servico { get; }
        /// <summary>ISSQN; 0.00 quando não consta da nota.</summary>
        public string valor_issqn { get; }
        /// <summary>Base do ISSQN; 0.00 quando não consta da nota.</summary>
        public string valor_base_calculo { get; }
        /// <summary>Alíquota em percentual; 0.00 quando não consta.</summary>
        public string aliquota_issqn { get; }
        /// <summary>A NFS-e autorizada; até a autorização, a DPS recebida.</summary>
        public string xml_nota { get; }
        /// <summary>Quando foi cancelada; null enquanto não foi. Pode ser nulo.</summary>
        public string data_cancelamento { get; }

        internal NotaComCancelamento(JsonElement dados)
        {
            id = Leitura.Inteiro(dados, "id");
            numero = Leitura.Texto(dados, "numero");
            serie_dps = Leitura.Texto(dados, "serie_dps");
            numero_dps = Leitura.Inteiro(dados, "numero_dps");
            serie_dps_nacional = Leitura.Texto(dados, "serie_dps_nacional");
            numero_dps_nacional = Leitura.Texto(dados, "numero_dps_nacional");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            identificador = Leitura.Texto(dados, "identificador");
            status = Leitura.Texto(dados, "status");
            versao = Leitura.Texto(dados, "versao");
            data_emissao = Leitura.Texto(dados, "data_emissao");
            data_competencia = Leitura.Texto(dados, "data_competencia");
            codigo_situacao_nfse = Leitura.Inteiro(dados, "codigo_situacao_nfse");
            prestador_cpf_cnpj = Leitura.Texto(dados, "prestador_cpf_cnpj");
            prestador_razao_social = Leitura.Texto(dados, "prestador_razao_social");
            prestador_inscricao_municipal = Leitura.Texto(dados, "prestador_inscricao_municipal");
            tomador_cpf_cnpj = Leitura.Texto(dados, "tomador_cpf_cnpj");
            tomador_razao_social = Leitura.Texto(dados, "tomador_razao_social");
            valor_servico = Leitura.Texto(dados, "valor_servico");
            valor_issqn = Leitura.Texto(dados, "valor_issqn");
            valor_base_calculo = Leitura.Texto(dados, "valor_base_calculo");
            aliquota_issqn = Leitura.Texto(dados, "aliquota_issqn");
            xml_nota = Leitura.Texto(dados, "xml_nota");
            data_cancelamento = Leitura.Texto(dados, "data_cancelamento");
        }
    }

    public sealed class Protocolo
    {
        /// <summary>Número de protocolo da nota.</summary>
        public string numero_protocolo { get; }
        /// <summary>Andamento no ADN. Um de: processando, autorizado, rejeitado, cancelado.</summary>
        public string status { get; }
        /// <summary>aguardar enquanto a nota muda por si, e também da que espera a publicação de uma alíquota; null
        /// depois. Pode ser nulo.</summary>
        public string acao_sugerida { get; }
        /// <summary>Quando vale a pena perguntar de novo; null quando a nota não muda mais por si. Retry-After diz o
        /// mesmo em segundos. Pode ser nulo.</summary>
        public string proxima_consulta { get; }
        /// <summary>O que o ADN disse, ou por que a nota espera sem ser enviada; null quando não há o que dizer. Pode
        /// ser nulo.</summary>
        public string mensagem_retorno { get; }
        /// <summary>Quando a nota foi recebida.</summary>
        public string data_protocolo { get; }
        /// <summary>Chave de acesso da NFS-e.</summary>
        public string chave_acesso { get; }

        internal Protocolo(JsonElement dados)
        {
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            status = Leitura.Texto(dados, "status");
            acao_sugerida = Leitura.Texto(dados, "acao_sugerida");
            proxima_consulta = Leitura.Texto(dados, "proxima_consulta");
            mensagem_retorno = Leitura.Texto(dados, "mensagem_retorno");
            data_protocolo = Leitura.Texto(dados, "data_protocolo");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
        }
    }

    public sealed class Erro
    {
        /// <summary>Código da tabela pública.</summary>
        public string codigo { get; }
        /// <summary>Elemento da DPS de que o erro fala; vazio quando não é da DPS.</summary>
        public string xpath { get; }
        /// <summary>Propriedade do corpo JSON, ou parâmetro, de que o erro fala. Pode ser nulo.</summary>
        public string campo { get; }
        /// <summary>O que está errado e como se corrige.</summary>
        public string mensagem { get; }
        /// <summary>De onde vem a regra.</summary>
        public string origem_moc { get; }
        /// <summary>Página do código.</summary>
        public string doc_url { get; }
        /// <summary>Exemplos na página do código, no primeiro erro que o traz. Pode ser nulo.</summary>
        public string exemplo_ref { get; }
        /// <summary>Linha do documento enviado, a partir de 1. Pode ser nulo.</summary>
        public long? linha { get; }
        /// <summary>Coluna, em caracteres, a partir de 1. Pode ser nulo.</summary>
        public long? coluna { get; }
        /// <summary>O que veio. Pode ser nulo.</summary>
        public string encontrado { get; }
        /// <summary>O que se esperava; uma lista longa vem só no primeiro erro que a tem. Pode ser nulo.</summary>
        public string esperado { get; }
        /// <summary>Texto que se cola, como está, no lugar do que veio: em XML, do elemento inteiro que xpath nomeia e
        /// que começa em linha e coluna, ou do atributo, se xpath acaba em @nome (o que falta se acrescenta à marca);
        /// em JSON, da propriedade que campo nomeia, nome e valor, ou do item, se campo acaba em [n]. Vazio: retire o
        /// que está ali, em JSON com a vírgula que o separa. Sem correcao, a correção pede uma decisão. Pode ser
        /// nulo.</summary>
        public string correcao { get; }
        /// <summary>E0014: chave da nota que já existe. Pode ser nulo.</summary>
        public string chave_acesso { get; }
        /// <summary>E0014: protocolo da nota que já existe. Pode ser nulo.</summary>
        public string numero_protocolo { get; }
        /// <summary>E0014: se a DPS é a mesma que a emitiu. Pode ser nulo.</summary>
        public bool? mesmo_conteudo { get; }

        internal Erro(JsonElement dados)
        {
            codigo = Leitura.Texto(dados, "codigo");
            xpath = Leitura.Texto(dados, "xpath");
            campo = Leitura.Texto(dados, "campo");
            mensagem = Leitura.Texto(dados, "mensagem");
            origem_moc = Leitura.Texto(dados, "origem_moc");
            doc_url = Leitura.Texto(dados, "doc_url");
            exemplo_ref = Leitura.Texto(dados, "exemplo_ref");
            linha = Leitura.Inteiro(dados, "linha");
            coluna = Leitura.Inteiro(dados, "coluna");
            encontrado = Leitura.Texto(dados, "encontrado");
            esperado = Leitura.Texto(dados, "esperado");
            correcao = Leitura.Texto(dados, "correcao");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            mesmo_conteudo = Leitura.Booleano(dados, "mesmo_conteudo");
        }
    }

    public sealed class Aviso
    {
        /// <summary>Código da tabela pública.</summary>
        public string codigo { get; }
        /// <summary>Elemento da DPS de que o aviso fala; vazio quando não é da DPS.</summary>
        public string xpath { get; }
        /// <summary>O que convém saber.</summary>
        public string mensagem { get; }
        /// <summary>Propriedade do corpo JSON, ou cabeçalho, de que o aviso fala. Pode ser nulo.</summary>
        public string campo { get; }
        /// <summary>Linha do documento enviado, a partir de 1. Pode ser nulo.</summary>
        public long? linha { get; }
        /// <summary>Coluna, em caracteres, a partir de 1. Pode ser nulo.</summary>
        public long? coluna { get; }
        /// <summary>Página do código.</summary>
        public string doc_url { get; }

        internal Aviso(JsonElement dados)
        {
            codigo = Leitura.Texto(dados, "codigo");
            xpath = Leitura.Texto(dados, "xpath");
            mensagem = Leitura.Texto(dados, "mensagem");
            campo = Leitura.Texto(dados, "campo");
            linha = Leitura.Inteiro(dados, "linha");
            coluna = Leitura.Inteiro(dados, "coluna");
            doc_url = Leitura.Texto(dados, "doc_url");
        }
    }

    public sealed class Evento
    {
        /// <summary>Identificador do evento neste município. Dá saltos e não segue o tempo: para ordenar use
        /// data_hora_evento, ou numero_sequencial entre os do mesmo tipo.</summary>
        public long? id_evento { get; }
        /// <summary>Código nacional do tipo, 6 algarismos. Um de: 101101, 105102, 101103, 105104, 105105, 202201,
        /// 203202, 204203, 205204, 202205, 203206, 204207, 205208, 305101, 305102, 305103.</summary>
        public string codigo_tipo_evento { get; }
        /// <summary>Nome do tipo, como em tipo_evento da requisição. Um de: cancelamento,
        /// cancelamento_por_substituicao, solicitacao_analise_fiscal_para_cancelamento,
        /// cancelamento_deferido_por_analise_fiscal, cancelamento_indeferido_por_analise_fiscal, confirmacao_prestador,
        /// confirmacao_tomador, confirmacao_intermediario, confirmacao_tacita, rejeicao_prestador, rejeicao_tomador,
        /// rejeicao_intermediario, anulacao_rejeicao, cancelamento_por_oficio, bloqueio_por_oficio,
        /// desbloqueio_por_oficio.</summary>
        public string tipo_evento { get; }
        /// <summary>Sequência entre os eventos do tipo na nota, a partir de 1.</summary>
        public long? numero_sequencial { get; }
        /// <summary>Protocolo da nota.</summary>
        public string numero_protocolo { get; }
        /// <summary>Chave da nota.</summary>
        public string chave_acesso { get; }
        /// <summary>Quando foi registrado, ISO 8601.</summary>
        public string data_hora_evento { get; }
        /// <summary>Quando o ADN deu a palavra final; null até lá. Pode ser nulo.</summary>
        public string data_hora_processamento { get; }
        /// <summary>Desde quando espera a autorização da nota; null se não espera. Pode ser nulo.</summary>
        public string aguardando_desde { get; }
        /// <summary>Estado do evento. Um de: pendente, enviado, aguardando_autorizacao_nota, processado, rejeitado,
        /// erro, erro_reprocessamento, cancelado, dispensado.</summary>
        public string status_evento { get; }
        /// <summary>Número com que o ADN o recebeu; null até lá e na integração. Pode ser nulo.</summary>
        public string protocolo { get; }
        /// <summary>Código do primeiro motivo do ADN, ou null. Pode ser nulo.</summary>
        public string codigo_retorno { get; }
        /// <summary>O que o ADN disse, ou null. Pode ser nulo.</summary>
        public string mensagem_retorno { get; }
        /// <summary>Os motivos do ADN, sem segredos, cortados em 1000 caracteres e 3 níveis. Pode ser nulo.</summary>
        public JsonElement? erros_adn { get; }
        /// <summary>Novas tentativas automáticas feitas, de 0 a 3.</summary>
        public long? reprocessamentos_count { get; }
        /// <summary>Quando foi a última; null sem nenhuma. Pode ser nulo.</summary>
        public string ultimo_reprocessamento_em { get; }
        /// <summary>aguardar, retentar, consultar_suporte ou cancelado_ok. Um de: aguardar, retentar,
        /// consultar_suporte, cancelado_ok.</summary>
        public string acao_sugerida { get; }
        /// <summary>Quando vale a pena perguntar de novo, ISO 8601; null quando nada mais muda por si. Retry-After diz
        /// o mesmo em segundos. Pode ser nulo.</summary>
        public string proxima_consulta { get; }
        /// <summary>O que foi feito do evento; distingue o que cancelado_ok, em acao_sugerida, diz de uma só maneira.
        /// Um de: em_andamento, registrado, valido_no_municipio, recusado, retirado, dispensado, parado.</summary>
        public string desfecho { get; }
        /// <summary>Nome nacional do tipo.</summary>
        public string descricao_evento { get; }
        /// <summary>OK em todo evento.</summary>
        public string status { get; }

        internal Evento(JsonElement dados)
        {
            id_evento = Leitura.Inteiro(dados, "id_evento");
            codigo_tipo_evento = Leitura.Texto(dados, "codigo_tipo_evento");
            tipo_evento = Leitura.Texto(dados, "tipo_evento");
            numero_sequencial = Leitura.Inteiro(dados, "numero_sequencial");
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            data_hora_evento = Leitura.Texto(dados, "data_hora_evento");
            data_hora_processamento = Leitura.Texto(dados, "data_hora_processamento");
            aguardando_desde = Leitura.Texto(dados, "aguardando_desde");
            status_evento = Leitura.Texto(dados, "status_evento");
            protocolo = Leitura.Texto(dados, "protocolo");
            codigo_retorno = Leitura.Texto(dados, "codigo_retorno");
            mensagem_retorno = Leitura.Texto(dados, "mensagem_retorno");
            erros_adn = Leitura.Livre(dados, "erros_adn");
            reprocessamentos_count = Leitura.Inteiro(dados, "reprocessamentos_count");
            ultimo_reprocessamento_em = Leitura.Texto(dados, "ultimo_reprocessamento_em");
            acao_sugerida = Leitura.Texto(dados, "acao_sugerida");
            proxima_consulta = Leitura.Texto(dados, "proxima_consulta");
            desfecho = Leitura.Texto(dados, "desfecho");
            descricao_evento = Leitura.Texto(dados, "descricao_evento");
            status = Leitura.Texto(dados, "status");
        }
    }

    public sealed class MunicipioIncidencia
    {
        /// <summary>Código IBGE, 7 algarismos.</summary>
        public string codigo { get; }
        /// <summary>Nome do município.</summary>
        public string nome { get; }
        /// <summary>Sigla do estado.</summary>
        public string uf { get; }

        internal MunicipioIncidencia(JsonElement dados)
        {
            codigo = Leitura.Texto(dados, "codigo");
            nome = Leitura.Texto(dados, "nome");
            uf = Leitura.Texto(dados, "uf");
        }
    }

    public sealed class Valores
    {
        /// <summary>Preço do serviço, como declarado.</summary>
        public string valor_servico { get; }
        /// <summary>O que a dedução ou redução tira da base.</summary>
        public string valor_deducao { get; }
        /// <summary>O que o benefício municipal tira da base.</summary>
        public string valor_beneficio { get; }
        /// <summary>Base de cálculo do ISSQN. Pode ser nulo.</summary>
        public string valor_base_calculo { get; }
        /// <summary>Alíquota aplicada, em percentual. Pode ser nulo.</summary>
        public string aliquota_issqn { get; }
        /// <summary>ISSQN. Pode ser nulo.</summary>
        public string valor_issqn { get; }
        /// <summary>ISSQN retido pelo tomador ou intermediário.</summary>
        public string valor_issqn_retido { get; }
        /// <summary>Soma das retenções. Pode ser nulo.</summary>
        public string valor_total_retido { get; }
        /// <summary>O que o prestador recebe.</summary>
        public string valor_liquido { get; }

        internal Valores(JsonElement dados)
        {
            valor_servico = Leitura.Texto(dados, "valor_servico");
            valor_deducao = Leitura.Texto(dados, "valor_deducao");
            valor_beneficio = Leitura.Texto(dados, "valor_beneficio");
            valor_base_calculo = Leitura.Texto(dados, "valor_base_calculo");
            aliquota_issqn = Leitura.Texto(dados, "aliquota_issqn");
            valor_issqn = Leitura.Texto(dados, "valor_issqn");
            valor_issqn_retido = Leitura.Texto(dados, "valor_issqn_retido");
            valor_total_retido = Leitura.Texto(dados, "valor_total_retido");
            valor_liquido = Leitura.Texto(dados, "valor_liquido");
        }
    }

    public sealed class ValoresIbsCbs
    {
        /// <summary>Base de cálculo.</summary>
        public string valores_base_calculo { get; }
        /// <summary>Alíquota do IBS estadual, em percentual.</summary>
        public string valores_aliquota_ibs_uf { get; }
        /// <summary>Alíquota do IBS municipal, em percentual.</summary>
        public string valores_aliquota_ibs_municipal { get; }
        /// <summary>Alíquota da CBS, em percentual.</summary>
        public string valores_aliquota_cbs { get; }
        /// <summary>A do IBS estadual depois da redução da classificação.</summary>
        public string valores_aliquota_efetiva_ibs_uf { get; }
        /// <summary>A do IBS municipal depois da redução.</summary>
        public string valores_aliquota_efetiva_ibs_municipal { get; }
        /// <summary>A da CBS depois da redução.</summary>
        public string valores_aliquota_efetiva_cbs { get; }
        /// <summary>IBS estadual.</summary>
        public string total_ibs_uf { get; }
        /// <summary>IBS municipal.</summary>
        public string total_ibs_municipal { get; }
        /// <summary>IBS, os dois somados.</summary>
        public string total_ibs { get; }
        /// <summary>CBS.</summary>
        public string total_cbs { get; }
        /// <summary>Total da nota.</summary>
        public string total_nota { get; }

        internal ValoresIbsCbs(JsonElement dados)
        {
            valores_base_calculo = Leitura.Texto(dados, "valores_base_calculo");
            valores_aliquota_ibs_uf = Leitura.Texto(dados, "valores_aliquota_ibs_uf");
            valores_aliquota_ibs_municipal = Leitura.Texto(dados, "valores_aliquota_ibs_municipal");
            valores_aliquota_cbs = Leitura.Texto(dados, "valores_aliquota_cbs");
            valores_aliquota_efetiva_ibs_uf = Leitura.Texto(dados, "valores_aliquota_efetiva_ibs_uf");
            valores_aliquota_efetiva_ibs_municipal = Leitura.Texto(dados, "valores_aliquota_efetiva_ibs_municipal");
            valores_aliquota_efetiva_cbs = Leitura.Texto(dados, "valores_aliquota_efetiva_cbs");
            total_ibs_uf = Leitura.Texto(dados, "total_ibs_uf");
            total_ibs_municipal = Leitura.Texto(dados, "total_ibs_municipal");
            total_ibs = Leitura.Texto(dados, "total_ibs");
            total_cbs = Leitura.Texto(dados, "total_cbs");
            total_nota = Leitura.Texto(dados, "total_nota");
        }
    }

    public sealed class Passo
    {
        /// <summary>Campo da nota, abaixo de infNFSe.</summary>
        public string campo { get; }
        /// <summary>Para quem enviou JSON: o nome dele no corpo, ou nos valores desta resposta. Pode ser
        /// nulo.</summary>
        public string campo_json { get; }
        /// <summary>Como se chegou a ele, em palavras, com os nomes da DPS ou, para quem enviou JSON, os do
        /// corpo.</summary>
        public string formula { get; }
        /// <summary>O valor; null quando não consta da nota. Pode ser nulo.</summary>
        public string valor { get; }

        internal Passo(JsonElement dados)
        {
            campo = Leitura.Texto(dados, "campo");
            campo_json = Leitura.Texto(dados, "campo_json");
            formula = Leitura.Texto(dados, "formula");
            valor = Leitura.Texto(dados, "valor");
        }
    }

    public sealed class NotaListada
    {
        /// <summary>Identificador da nota neste serviço.</summary>
        public long? id { get; }
        /// <summary>Número sequencial da NFS-e (nNFSe), em texto: o de numero_dps, a partir da autorização; null até
        /// lá. Pode ser nulo.</summary>
        public string numero { get; }
        /// <summary>Série da DPS: a enviada, ou 70000.</summary>
        public string serie_dps { get; }
        /// <summary>Apesar do nome, o número sequencial da NFS-e (nNFSe). O número da própria DPS está em
        /// numero_dps_nacional.</summary>
        public long? numero_dps { get; }
        /// <summary>Série da DPS como foi ao ADN: a enviada, ou 70000; null até o envio. Pode ser nulo.</summary>
        public string serie_dps_nacional { get; }
        /// <summary>O número da própria DPS (nDPS) como foi ao ADN: o enviado, ou o que o serviço lhe deu; é o da
        /// consulta por DPS. Null até o envio. Pode ser nulo.</summary>
        public string numero_dps_nacional { get; }
        /// <summary>Chave de acesso da NFS-e.</summary>
        public string chave_acesso { get; }
        /// <summary>Identificador de infNFSe: NFS e a chave de acesso.</summary>
        public string identificador { get; }
        /// <summary>rascunho até a autorização, e também da nota que o ADN recusou (protocolo.status diz qual). Um de:
        /// rascunho, autorizada, cancelada.</summary>
        public string status { get; }
        /// <summary>Versão do leiaute: 1.01.</summary>
        public string versao { get; }
        /// <summary>Quando foi emitida, no fuso do município.</summary>
        public string data_emissao { get; }
        /// <summary>Competência.</summary>
        public string data_competencia { get; }
        /// <summary>cStat da NFS-e: 100, ou 107 a de um MEI; null até a autorização. Pode ser nulo.</summary>
        public long? codigo_situacao_nfse { get; }
        /// <summary>CNPJ ou CPF do prestador, sem pontuação.</summary>
        public string prestador_cpf_cnpj { get; }
        /// <summary>Nome do prestador.</summary>
        public string prestador_razao_social { get; }
        /// <summary>Inscrição municipal do prestador. Pode ser nulo.</summary>
        public string prestador_inscricao_municipal { get; }
        /// <summary>CNPJ ou CPF do tomador; null quando não tem. Pode ser nulo.</summary>
        public string tomador_cpf_cnpj { get; }
        /// <summary>Nome do tomador; null sem tomador. Pode ser nulo.</summary>
        public string tomador_razao_social { get; }
        /// <summary>Preço do serviço.</summary>
        public string valor_servico { get; }
        /// <summary>ISSQN; 0.00 quando não consta da nota.</summary>
        public string valor_issqn { get; }
        /// <summary>Base do ISSQN; 0.00 quando não consta da nota.</summary>
        public string valor_base_calculo { get; }
        /// <summary>Alíquota em percentual; 0.00 quando não consta.</summary>
        public string aliquota_issqn { get; }
        /// <summary>CNPJ ou CPF do intermediário; null quando não há. Pode ser nulo.</summary>
        public string intermediario_cpf_cnpj { get; }
        /// <summary>Código do serviço na lista nacional. Pode ser nulo.</summary>
        public string codigo_tributacao_nacional { get; }
        /// <summary>Quando foi cancelada; null enquanto não foi. Pode ser nulo.</summary>
        public string data_cancelamento { get; }
        /// <summary>Estado da nota, como em /docs/estados. Um de: emitida, retida, transmitida, autorizada, recusada,
        /// cancelada.</summary>
        public string estado { get; }
        /// <summary>Número de protocolo da nota.</summary>
        public string numero_protocolo { get; }
        /// <summary>Identificador da DPS.</summary>
        public string id_dps { get; }
        /// <summary>O que o ADN disse, ou por que a nota espera; null quando não há o que dizer. Pode ser
        /// nulo.</summary>
        public string mensagem_retorno { get; }
        /// <summary>O que o documento é nesta nota.</summary>
        public IReadOnlyList<string> papeis { get; }
        /// <summary>Por que a nota tem base e não tem ISSQN, se é assim: foi emitida sem alíquota; valor_issqn e
        /// aliquota_issqn são aí 0.00, e vazios no CSV. Null nas demais. Pode ser nulo.</summary>
        public string motivo_sem_issqn { get; }

        internal NotaListada(JsonElement dados)
        {
            id = Leitura.Inteiro(dados, "id");
            numero = Leitura.Texto(dados, "numero");
            serie_dps = Leitura.Texto(dados, "serie_dps");
            numero_dps = Leitura.Inteiro(dados, "numero_dps");
            serie_dps_nacional = Leitura.Texto(dados, "serie_dps_nacional");
            numero_dps_nacional = Leitura.Texto(dados, "numero_dps_nacional");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            identificador = Leitura.Texto(dados, "identificador");
            status = Leitura.Texto(dados, "status");
            versao = Leitura.Texto(dados, "versao");
            data_emissao = Leitura.Texto(dados, "data_emissao");
            data_competencia = Leitura.Texto(dados, "data_competencia");
            codigo_situacao_nfse = Leitura.Inteiro(dados, "codigo_situacao_nfse");
            prestador_cpf_cnpj = Leitura.Texto(dados, "prestador_cpf_cnpj");
            prestador_razao_social = Leitura.Texto(dados, "prestador_razao_social");
            prestador_inscricao_municipal = Leitura.Texto(dados, "prestador_inscricao_municipal");
            tomador_cpf_cnpj = Leitura.Texto(dados, "tomador_cpf_cnpj");
            tomador_razao_social = Leitura.Texto(dados, "tomador_razao_social");
            valor_servico = Leitura.Texto(dados, "valor_servico");
            valor_issqn = Leitura.Texto(dados, "valor_issqn");
            valor_base_calculo = Leitura.Texto(dados, "valor_base_calculo");
            aliquota_issqn = Leitura.Texto(dados, "aliquota_issqn");
            intermediario_cpf_cnpj = Leitura.Texto(dados, "intermediario_cpf_cnpj");
            codigo_tributacao_nacional = Leitura.Texto(dados, "codigo_tributacao_nacional");
            data_cancelamento = Leitura.Texto(dados, "data_cancelamento");
            estado = Leitura.Texto(dados, "estado");
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            id_dps = Leitura.Texto(dados, "id_dps");
            mensagem_retorno = Leitura.Texto(dados, "mensagem_retorno");
            papeis = Leitura.Textos(dados, "papeis");
            motivo_sem_issqn = Leitura.Texto(dados, "motivo_sem_issqn");
        }
    }

    public sealed class Contagem
    {
        /// <summary>Quantos itens há, contados até 10000.</summary>
        public long? total { get; }
        /// <summary>false: pode haver mais do que os contados.</summary>
        public bool? total_exato { get; }

        internal Contagem(JsonElement dados)
        {
            total = Leitura.Inteiro(dados, "total");
            total_exato = Leitura.Booleano(dados, "total_exato");
        }
    }

    public sealed class Mudanca
    {
        /// <summary>Identificador da mudança, o mesmo sempre que é contada: com o município na frente, também o
        /// webhook-id de um aviso.</summary>
        public string id { get; }
        /// <summary>De que é, e a que estado chegou. Um de: nota.emitida, nota.retida, nota.transmitida,
        /// nota.autorizada, nota.recusada, nota.cancelada, evento.pendente, evento.enviado,
        /// evento.aguardando_autorizacao_nota, evento.processado, evento.rejeitado, evento.erro,
        /// evento.erro_reprocessamento, evento.cancelado, evento.dispensado.</summary>
        public string tipo { get; }
        /// <summary>Quando mudou.</summary>
        public string em { get; }
        /// <summary>O lugar de quem já tem esta mudança, para desde; num aviso ao próprio município, o do prestador da
        /// nota. Null num aviso a ele de antes desta versão. Pode ser nulo.</summary>
        public string cursor { get; }
        /// <summary>O que o documento é na nota.</summary>
        public IReadOnlyList<string> papeis { get; }
        /// <summary>Chave de acesso da NFS-e.</summary>
        public string chave_acesso { get; }
        /// <summary>Número de protocolo da nota.</summary>
        public string numero_protocolo { get; }
        /// <summary>Identificador da DPS.</summary>
        public string id_dps { get; }
        /// <summary>Número sequencial da NFS-e.</summary>
        public string numero { get; }
        /// <summary>O status da nota nesta mudança: o mesmo sempre que ela é contada.</summary>
        public string status { get; }
        /// <summary>O evento que mudou; null quando quem mudou foi a nota. Pode ser nulo.</summary>
        public EventoMudado evento { get; }
        /// <summary>O que se disse da nota quando chegou a este estado; null quando não houve o que dizer. Pode ser
        /// nulo.</summary>
        public string mensagem { get; }

        internal Mudanca(JsonElement dados)
        {
            id = Leitura.Texto(dados, "id");
            tipo = Leitura.Texto(dados, "tipo");
            em = Leitura.Texto(dados, "em");
            cursor = Leitura.Texto(dados, "cursor");
            papeis = Leitura.Textos(dados, "papeis");
            chave_acesso = Leitura.Texto(dados, "chave_acesso");
            numero_protocolo = Leitura.Texto(dados, "numero_protocolo");
            id_dps = Leitura.Texto(dados, "id_dps");
            numero = Leitura.Texto(dados, "numero");
            status = Leitura.Texto(dados, "status");
            evento = Leitura.Parte(dados, "evento", um => new EventoMudado(um));
            mensagem = Leitura.Texto(dados, "mensagem");
        }
    }

    public sealed class EventoMudado
    {
        /// <summary>Identificador do evento neste serviço.</summary>
        public long? id_evento { get; }
        /// <summary>Nome do tipo.</summary>
        public string tipo_evento { get; }
        /// <summary>Código nacional do tipo.</summary>
        public string codigo_tipo_evento { get; }
        /// <summary>Sequência entre os do seu tipo na nota.</summary>
        public long? numero_sequencial { get; }
        /// <summary>O estado a que chegou.</summary>
        public string status_evento { get; }

        internal EventoMudado(JsonElement dados)
        {
            id_evento = Leitura.Inteiro(dados, "id_evento");
            tipo_evento = Leitura.Texto(dados, "tipo_evento");
            codigo_tipo_evento = Leitura.Texto(dados, "codigo_tipo_evento");
            numero_sequencial = Leitura.Inteiro(dados, "numero_sequencial");
            status_evento = Leitura.Texto(dados, "status_evento");
        }
    }

    public sealed class Ambiente
    {
        /// <summary>O município do ambiente: o primeiro segmento dos seus endereços.</summary>
        public string municipio { get; }
        /// <summary>O nome que se lhe deu. Pode ser nulo.</summary>
        public string nome { get; }
        /// <summary>Quando foi feito.</summary>
        public string criado_em { get; }
        /// <summary>Quando some, com tudo o que há nele.</summary>
        public string expira_em { get; }
        /// <summary>Quando foi reiniciado. Pode ser nulo.</summary>
        public string reiniciado_em { get; }
        /// <summary>A hora do ambiente.</summary>
        public string relogio { get; }
        /// <summary>Quantos segundos o relógio do ambiente está adiante do do serviço.</summary>
        public long? adiantado_s { get; }
        /// <summary>Se uma regra nacional que a especificação não nomeia recusa ou avisa. Um de: recusa, avisa. Pode
        /// ser nulo.</summary>
        public string regras_nacionais { get; }
        /// <summary>Se o prestador tem de estar cadastrado e autorizado, como em produção (E101, E102, E103).</summary>
        public bool? exige_cadastro { get; }
        /// <summary>Se uma DPS sem número é recusada.</summary>
        public bool? exige_numero { get; }
        /// <summary>Se o pedido de um evento tem de nomear a nota.</summary>
        public bool? exige_nota_no_evento { get; }
        /// <summary>Alíquota do ISSQN de um serviço sem lista. Pode ser nulo.</summary>
        public string aliquota_padrao { get; }

        internal Ambiente(JsonElement dados)
        {
            municipio = Leitura.Texto(dados, "municipio");
            nome = Leitura.Texto(dados, "nome");
            criado_em = Leitura.Texto(dados, "criado_em");
            expira_em = Leitura.Texto(dados, "expira_em");
            reiniciado_em = Leitura.Texto(dados, "reiniciado_em");
            relogio = Leitura.Texto(dados, "relogio");
            adiantado_s = Leitura.Inteiro(dados, "adiantado_s");
            regras_nacionais = Leitura.Texto(dados, "regras_nacionais");
            exige_cadastro = Leitura.Booleano(dados, "exige_cadastro");
            exige_numero = Leitura.Booleano(dados, "exige_numero");
            exige_nota_no_evento = Leitura.Booleano(dados, "exige_nota_no_evento");
            aliquota_padrao = Leitura.Texto(dados, "aliquota_padrao");
        }
    }

    // GERADO até aqui
}
