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
        /// <summary>Quanto a última resposta pede que se espere (Retry-After); nulo se não pede.</summary>
        public TimeSpan? Espera { get; }
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
            Espera = falha.Resposta?.Espera();
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

        internal AindaEmAndamento(NaoEntregue erro) : base("O serviço pede " + erro.Espera.Value.TotalSeconds + " segundos de espera, e o prazo acaba antes.", erro) { }
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
                catch (NaoEntregue erro)
                {
                    // A service that is away for a moment ends nothing; it answers no question before the time that it asks for.
                    if (erro.Espera > fim - DateTime.UtcNow) throw new AindaEmAndamento(erro);
                    if (erro.Espera > pausa) pausa = erro.Espera.Value;
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

    // GERADO da descrição OpenAPI, ao ser entregue pelo serviço; não se edita daqui
}
