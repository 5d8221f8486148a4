import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAPrivateKey;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManagerFactory;
import javax.xml.crypto.MarshalException;
import javax.xml.crypto.dsig.Reference;
import javax.xml.crypto.dsig.SignedInfo;
import javax.xml.crypto.dsig.Transform;
import javax.xml.crypto.dsig.XMLSignatureException;
import javax.xml.crypto.dsig.XMLSignatureFactory;
import javax.xml.crypto.dsig.dom.DOMSignContext;
import javax.xml.crypto.dsig.spec.C14NMethodParameterSpec;
import javax.xml.crypto.dsig.spec.TransformParameterSpec;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.ErrorHandler;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;

/**
 * Cliente do Emissor NFS-e, num arquivo só: assina, emite, repete sem emitir duas vezes, acompanha, registra eventos, consulta.
 *
 * <pre>{@code
 * var certificado = new EmissorNfse.Certificado(Files.readAllBytes(Path.of("certificado.pfx")), senha);
 * var cliente = new EmissorNfse("https://nfse.exemplo.gov.br", "exemplo", certificado);
 * try {
 *     var emitida = cliente.emitirNota(Files.readAllBytes(Path.of("dps.xml")), new EmissorNfse.Envio().chave("pedido-1234"));
 *     System.out.println(emitida.chave_acesso);
 * } catch (EmissorNfse.Recusado recusa) {
 *     System.out.println(recusa.codigo_erro + " " + recusa.campo + " " + recusa.mensagem);
 * }
 * }</pre>
 *
 * <p>Java 11 ou mais novo, e só o JDK. Copie este arquivo para o seu projeto, com a linha package que ele pede. Um cliente serve a
 * várias threads. Os nomes publicados (chave_acesso, codigo_erro) são os do serviço. Licença: Apache-2.0.
 */
public final class EmissorNfse {

    // Os erros

    /** Um XML que não se assina, e por quê. Nada foi enviado. */
    public static final class XmlRecusado extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        XmlRecusado(String motivo) {
            super(motivo);
        }
    }

    /** Um .pfx que não se abre, ou que não assina. Nada foi enviado. */
    public static final class CertificadoRecusado extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        CertificadoRecusado(String motivo, Throwable causa) {
            super(motivo, causa);
        }
    }

    /** Com que se repete, byte por byte, um envio cujo fim não se conhece. Guarde-a. */
    public static final class Repeticao {
        public final String chave;
        public final byte[] corpo;
        /** De um corpo JSON; nula em XML. */
        public final String assinatura;

        Repeticao(String chave, byte[] corpo, String assinatura) {
            this.chave = chave;
            this.corpo = corpo;
            this.assinatura = assinatura;
        }
    }

    /** Uma chamada que não acabou bem. O que vem do envelope de erro é nulo se o serviço não chegou a responder com ele. */
    public abstract static class ErroDoEmissor extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public final String codigo_erro;
        public final String mensagem;
        /** Um texto, ou um mapa com dados. */
        public final transient Object detalhes;
        public final String campo;
        /** Todos os erros da etapa que recusou. */
        public final transient List<Erro> erros;
        /** O envelope inteiro. */
        public final transient EnvelopeDeErro envelope;
        /** Status HTTP da última resposta; nulo se não houve. */
        public final Integer status;
        /** X-Request-Id da última resposta, para o suporte. */
        public final String requisicao;
        /** Quanto a última resposta pede que se espere (Retry-After); nulo se não pede. */
        public final Duration espera;
        public final String operacao;
        public final int tentativas;

        ErroDoEmissor(String texto, String operacao, int tentativas, Resposta resposta, Map<String, Object> envelope, Throwable causa) {
            super(texto, causa);
            this.envelope = envelope == null ? null : new EnvelopeDeErro(envelope);
            this.codigo_erro = envelope == null ? null : this.envelope.codigo_erro;
            this.mensagem = envelope == null ? texto : this.envelope.mensagem;
            this.detalhes = envelope == null ? null : this.envelope.detalhes;
            this.campo = envelope == null ? null : this.envelope.campo;
            this.erros = envelope == null ? List.of() : this.envelope.erros;
            this.status = resposta == null ? null : resposta.status;
            this.requisicao = resposta == null ? null : resposta.cabecalho("x-request-id");
            Long pedida = resposta == null ? null : resposta.espera();
            this.espera = pedida == null ? null : Duration.ofMillis(pedida);
            this.operacao = operacao;
            this.tentativas = tentativas;
        }
    }

    /** O serviço leu e recusou: nada foi feito. Corrija pelo que dizem os erros; repetir sem mudar não adianta. */
    public static final class Recusado extends ErroDoEmissor {
        private static final long serialVersionUID = 1L;

        Recusado(String texto, String operacao, int tentativas, Resposta resposta, Map<String, Object> envelope) {
            super(texto, operacao, tentativas, resposta, envelope, null);
        }
    }

    /** A requisição não foi atendida: nada foi feito. Repita mais tarde, igual. */
    public static final class NaoEntregue extends ErroDoEmissor {
        private static final long serialVersionUID = 1L;

        NaoEntregue(String texto, String operacao, int tentativas, Falha falha) {
            super(texto, operacao, tentativas, falha.resposta, falha.envelope, falha.causa);
        }
    }

    /** A requisição saiu e não se sabe se foi feita. Repita com a repetição, e nunca com outro número. */
    public static final class Indeterminado extends ErroDoEmissor {
        private static final long serialVersionUID = 1L;

        public final transient Repeticao repeticao;

        Indeterminado(String texto, String operacao, int tentativas, Falha falha, Repeticao repeticao) {
            super(texto, operacao, tentativas, falha.resposta, falha.envelope, falha.causa);
            this.repeticao = repeticao;
        }
    }

    /** O prazo do acompanhamento acabou. Nada deu errado: consulte mais tarde, e não envie de novo. */
    public static final class AindaEmAndamento extends RuntimeException {
        private static final long serialVersionUID = 1L;

        AindaEmAndamento(Duration prazo) {
            super("O prazo de " + prazo.toSeconds() + " segundos acabou antes do fim. Consulte mais tarde.");
        }

        AindaEmAndamento(NaoEntregue erro) {
            super("O serviço pede " + erro.espera.toSeconds() + " segundos de espera, e o prazo acaba antes.", erro);
        }
    }

    // O certificado

    /** Um certificado A1 e a chave dele, abertos de um PKCS#12 (.pfx, .p12), cuja senha o JDK só aceita em ASCII. */
    public static final class Certificado {
        final PrivateKey chave;
        final X509Certificate certificado;
        final List<X509Certificate> cadeia = new ArrayList<>();

        public Certificado(byte[] pfx, String senha) {
            if (!senha.matches("[ -~]*")) {
                throw new CertificadoRecusado("O JDK só abre um PKCS#12 cuja senha está em ASCII: troque a senha do arquivo.", null);
            }
            PrivateKey achada = null;
            Certificate[] certificados = {};
            try {
                KeyStore arquivo = KeyStore.getInstance("PKCS12");
                arquivo.load(new ByteArrayInputStream(pfx), senha.toCharArray());
                for (String nome : Collections.list(arquivo.aliases())) {
                    if (achada == null && arquivo.isKeyEntry(nome)) {
                        achada = (PrivateKey) arquivo.getKey(nome, senha.toCharArray());
                        certificados = arquivo.getCertificateChain(nome);
                    }
                }
            } catch (IOException | GeneralSecurityException | RuntimeException erro) {
                throw new CertificadoRecusado("O PKCS#12 não se abre: confira o arquivo e a senha (" + erro.getMessage() + ").", erro);
            }
            if (!(achada instanceof RSAPrivateKey) || certificados == null || certificados.length == 0) {
                throw new CertificadoRecusado("O PKCS#12 não traz um certificado com a sua chave RSA.", null);
            }
            chave = achada;
            certificado = (X509Certificate) certificados[0];
            for (int lugar = 1; lugar < certificados.length; lugar++) cadeia.add((X509Certificate) certificados[lugar]);
        }

        byte[] assinar(byte[] bytes) throws GeneralSecurityException {
            Signature assinatura = Signature.getInstance("SHA256withRSA");
            assinatura.initSign(chave);
            assinatura.update(bytes);
            return assinatura.sign();
        }
    }

    // A assinatura

    private static final String DSIG = "http://www.w3.org/2000/09/xmldsig#";
    private static final String EXC_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#";
    private static final String RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
    private static final String SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256";
    private static final Pattern FIM_DA_DPS = Pattern.compile("</(?:[\\w.-]+:)?DPS[ \\t\\r\\n]*>[ \\t\\r\\n]*\\z");
    private static final Pattern SIGNATURE = Pattern.compile("<(?:[\\w.-]+:)?Signature[\\s>]");

    /** Se o XML traz uma assinatura, de quem quer que seja. */
    public static boolean estaAssinado(byte[] xml) {
        // Of an XML in UTF-16 every other octet is zero.
        String texto = new String(xml, StandardCharsets.ISO_8859_1).replace("\0", "");
        return SIGNATURE.matcher(texto).find() && texto.contains(DSIG);
    }

    /** A DPS com Signature depois de infDPS, e o resto como está. Lança XmlRecusado para o que não se pode assinar. */
    public static byte[] assinarXml(byte[] xml, Certificado certificado) {
        String texto = emUtf8(xml);
        if (texto == null) throw new XmlRecusado("O documento não está em UTF-8; converta-o antes de assinar.");
        Element elemento = lerInfDps(xml);
        Matcher fim = FIM_DA_DPS.matcher(texto);
        if (!fim.find()) throw new XmlRecusado("O documento não acaba em </DPS>.");
        String id = elemento.getAttribute("Id");
        try {
            Base64.Encoder base64 = Base64.getEncoder();
            // Written in its own canonical form, but for the declaration that stands in Signature.
            String informacao = "<CanonicalizationMethod Algorithm=\"" + EXC_C14N + "\"></CanonicalizationMethod>"
                + "<SignatureMethod Algorithm=\"" + RSA_SHA256 + "\"></SignatureMethod>"
                + "<Reference URI=\"#" + id + "\"><Transforms><Transform Algorithm=\"" + DSIG + "enveloped-signature\"></Transform>"
                + "<Transform Algorithm=\"" + EXC_C14N + "\"></Transform></Transforms>"
                + "<DigestMethod Algorithm=\"" + SHA256 + "\"></DigestMethod>"
                + "<DigestValue>" + base64.encodeToString(resumir(elemento, id, certificado)) + "</DigestValue></Reference>";
            String assinado = "<SignedInfo xmlns=\"" + DSIG + "\">" + informacao + "</SignedInfo>";
            byte[] valor = certificado.assinar(assinado.getBytes(StandardCharsets.UTF_8));
            String assinatura = "<Signature xmlns=\"" + DSIG + "\"><SignedInfo>" + informacao + "</SignedInfo>"
                + "<SignatureValue>" + base64.encodeToString(valor) + "</SignatureValue><KeyInfo><X509Data><X509Certificate>"
                + base64.encodeToString(certificado.certificado.getEncoded()) + "</X509Certificate></X509Data></KeyInfo></Signature>";
            return (texto.substring(0, fim.start()) + assinatura + texto.substring(fim.start())).getBytes(StandardCharsets.UTF_8);
        } catch (GeneralSecurityException erro) {
            throw new CertificadoRecusado("A chave não assina: " + erro.getMessage(), erro);
        }
    }

    /**
     * The digest of the exclusive canonical form of the element. The JDK signs the tree, and of that signature the digest alone is used: the
     * tree is never written out, so that the text stays as it was.
     */
    private static byte[] resumir(Element elemento, String id, Certificado certificado) throws GeneralSecurityException {
        elemento.setIdAttribute("Id", true);
        XMLSignatureFactory fabrica = XMLSignatureFactory.getInstance("DOM");
        Transform canonica = fabrica.newTransform(EXC_C14N, (TransformParameterSpec) null);
        Reference referencia = fabrica.newReference("#" + id, fabrica.newDigestMethod(SHA256, null), List.of(canonica), null, null);
        SignedInfo informacao = fabrica.newSignedInfo(
            fabrica.newCanonicalizationMethod(EXC_C14N, (C14NMethodParameterSpec) null),
            fabrica.newSignatureMethod(RSA_SHA256, null),
            List.of(referencia));
        try {
            fabrica.newXMLSignature(informacao, null).sign(new DOMSignContext(certificado.chave, elemento.getParentNode()));
        } catch (MarshalException | XMLSignatureException erro) {
            throw new GeneralSecurityException(erro);
        }
        return referencia.getDigestValue();
    }

    /** The one element that is signed, of a document in which there is nothing that the signature would not cover. */
    private static Element lerInfDps(byte[] xml) {
        Document documento;
        try {
            DocumentBuilderFactory fabrica = DocumentBuilderFactory.newInstance();
            fabrica.setNamespaceAware(true);
            fabrica.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            DocumentBuilder leitor = fabrica.newDocumentBuilder();
            leitor.setErrorHandler(new Calado());
            documento = leitor.parse(new ByteArrayInputStream(xml));
        } catch (SAXParseException erro) {
            throw new XmlRecusado("O XML não se lê: linha " + erro.getLineNumber() + ", coluna " + erro.getColumnNumber() + ": " + erro.getMessage());
        } catch (SAXException | IOException | ParserConfigurationException erro) {
            throw new XmlRecusado("O XML não se lê: " + erro.getMessage());
        }
        String codificacao = documento.getXmlEncoding();
        if (codificacao != null && !codificacao.equalsIgnoreCase("UTF-8") && !codificacao.equalsIgnoreCase("UTF8")) {
            throw new XmlRecusado("O documento diz estar em " + codificacao + ", e só se assina UTF-8.");
        }
        semComentarios(documento);
        Element raiz = documento.getDocumentElement();
        List<Element> elementos = new ArrayList<>();
        for (Node um = raiz.getFirstChild(); um != null; um = um.getNextSibling()) {
            if (um instanceof Element) elementos.add((Element) um);
            else if (!um.getNodeValue().isBlank()) throw new XmlRecusado("Há texto fora de infDPS, que a assinatura não cobre.");
        }
        if (elementos.size() > 1 && elementos.get(1).getLocalName().equals("Signature")) throw new XmlRecusado("A DPS já está assinada.");
        if (!raiz.getLocalName().equals("DPS") || elementos.size() != 1 || !elementos.get(0).getLocalName().equals("infDPS")) {
            throw new XmlRecusado("O documento não é DPS com um infDPS dentro, e só.");
        }
        if (!elementos.get(0).getAttribute("Id").matches("[A-Za-z0-9_.-]+")) {
            throw new XmlRecusado("Falta o Id de infDPS, a que a assinatura se refere.");
        }
        return elementos.get(0);
    }

    private static void semComentarios(Node no) {
        for (Node um = no.getFirstChild(); um != null; um = um.getNextSibling()) {
            if (um.getNodeType() == Node.COMMENT_NODE || um.getNodeType() == Node.PROCESSING_INSTRUCTION_NODE) {
                throw new XmlRecusado("Há um comentário ou uma instrução de processamento, que a assinatura não cobre.");
            }
            semComentarios(um);
        }
    }

    /** What is wrong is thrown, and not printed as well. */
    private static final class Calado implements ErrorHandler {
        @Override
        public void warning(SAXParseException erro) {
        }

        @Override
        public void error(SAXParseException erro) throws SAXException {
            throw erro;
        }

        @Override
        public void fatalError(SAXParseException erro) throws SAXException {
            throw erro;
        }
    }

    /** O valor de X-DPS-Assinatura ou X-Evento-Assinatura: CMS destacado sobre estes bytes. Envie exatamente os mesmos. */
    public static String assinarCms(byte[] corpo, Certificado certificado) {
        try {
            byte[] der = certificado.certificado.getEncoded();
            byte[] sha256 = Der.sequencia(Der.oid("2.16.840.1.101.3.4.2.1"), Der.valor(0x05));
            byte[] dados = Der.oid("1.2.840.113549.1.7.1");
            String agora = DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC).format(Instant.now());
            List<byte[]> atributos = new ArrayList<>(List.of(
                atributo("1.2.840.113549.1.9.3", dados),
                atributo("1.2.840.113549.1.9.5", Der.valor(0x17, agora.getBytes(StandardCharsets.US_ASCII))),
                atributo("1.2.840.113549.1.9.4", resumo(corpo)),
                // Says within the signature whose certificate it is (CAdES).
                atributo("1.2.840.113549.1.9.16.2.47", Der.sequencia(Der.sequencia(Der.sequencia(resumo(der)))))));
            atributos.sort(Arrays::compareUnsigned);
            List<byte[]> certificados = new ArrayList<>(List.of(der));
            for (X509Certificate um : certificado.cadeia) certificados.add(um.getEncoded());
            certificados.sort(Arrays::compareUnsigned);
            byte[] assinados = Der.valor(0x31, atributos.toArray(new byte[0][]));
            byte[] assinante = Der.sequencia(
                Der.valor(0x02, new byte[] {1}),
                Der.emissorENumero(certificado.certificado.getTBSCertificate()),
                sha256,
                Der.valor(0xa0, atributos.toArray(new byte[0][])),
                Der.sequencia(Der.oid("1.2.840.113549.1.1.1"), Der.valor(0x05)),
                Der.valor(0x04, certificado.assinar(assinados)));
            byte[] assinado = Der.sequencia(
                Der.valor(0x02, new byte[] {1}),
                Der.valor(0x31, sha256),
                Der.sequencia(dados),
                Der.valor(0xa0, certificados.toArray(new byte[0][])),
                Der.valor(0x31, assinante));
            byte[] cms = Der.sequencia(Der.oid("1.2.840.113549.1.7.2"), Der.valor(0xa0, assinado));
            return Base64.getEncoder().encodeToString(cms);
        } catch (GeneralSecurityException erro) {
            throw new CertificadoRecusado("A chave não assina: " + erro.getMessage(), erro);
        }
    }

    private static byte[] atributo(String oid, byte[] valor) {
        return Der.sequencia(Der.oid(oid), Der.valor(0x31, valor));
    }

    private static byte[] resumo(byte[] bytes) throws GeneralSecurityException {
        return Der.valor(0x04, MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    /** As much DER as a CMS takes. */
    private static final class Der {
        static byte[] valor(int etiqueta, byte[]... partes) {
            byte[] conteudo = juntar(partes);
            ByteArrayOutputStream saida = new ByteArrayOutputStream();
            saida.write(etiqueta);
            int tamanho = conteudo.length;
            if (tamanho < 0x80) saida.write(tamanho);
            else {
                int octetos = tamanho < 0x100 ? 1 : tamanho < 0x10000 ? 2 : tamanho < 0x1000000 ? 3 : 4;
                saida.write(0x80 | octetos);
                for (int lugar = octetos - 1; lugar >= 0; lugar--) saida.write(tamanho >> (8 * lugar));
            }
            saida.write(conteudo, 0, tamanho);
            return saida.toByteArray();
        }

        static byte[] sequencia(byte[]... partes) {
            return valor(0x30, partes);
        }

        static byte[] oid(String pontos) {
            String[] arcos = pontos.split("\\.");
            ByteArrayOutputStream saida = new ByteArrayOutputStream();
            saida.write(Integer.parseInt(arcos[0]) * 40 + Integer.parseInt(arcos[1]));
            for (int lugar = 2; lugar < arcos.length; lugar++) {
                int arco = Integer.parseInt(arcos[lugar]);
                for (int acima = 28; acima > 0; acima -= 7) {
                    if (arco >> acima != 0) saida.write(0x80 | ((arco >> acima) & 0x7f));
                }
                saida.write(arco & 0x7f);
            }
            return valor(0x06, saida.toByteArray());
        }

        /** As they stand in the certificate, octet for octet. */
        static byte[] emissorENumero(byte[] tbs) {
            int lugar = comecoDe(tbs, 0);
            List<byte[]> partes = new ArrayList<>();
            while (partes.size() < 4) {
                int fim = fimDe(tbs, lugar);
                // The version comes first, where it is not the oldest one.
                if ((tbs[lugar] & 0xff) != 0xa0) partes.add(Arrays.copyOfRange(tbs, lugar, fim));
                lugar = fim;
            }
            return sequencia(partes.get(2), partes.get(0));
        }

        private static int comecoDe(byte[] bytes, int lugar) {
            int tamanho = bytes[lugar + 1] & 0xff;
            return lugar + 2 + (tamanho < 0x80 ? 0 : tamanho & 0x7f);
        }

        private static int fimDe(byte[] bytes, int lugar) {
            int comeco = comecoDe(bytes, lugar);
            int tamanho = bytes[lugar + 1] & 0xff;
            if (tamanho < 0x80) return comeco + tamanho;
            tamanho = 0;
            for (int um = lugar + 2; um < comeco; um++) tamanho = tamanho << 8 | bytes[um] & 0xff;
            return comeco + tamanho;
        }

        private static byte[] juntar(byte[]... partes) {
            ByteArrayOutputStream saida = new ByteArrayOutputStream();
            for (byte[] um : partes) saida.write(um, 0, um.length);
            return saida.toByteArray();
        }
    }

    // O cliente

    /** Quanto se insiste, e em que servidor se confia. */
    public static final class Opcoes {
        private String autoridades;
        private String token;
        private int tentativas = 6;
        private Duration prazo = Duration.ofMinutes(2);
        private Duration tempoLimite = Duration.ofSeconds(30);
        private Duration primeiraEspera = Duration.ofSeconds(1);
        private Duration esperaMaxima = Duration.ofMinutes(1);

        /** Em PEM, as autoridades do servidor, no lugar das do sistema. */
        public Opcoes autoridades(String pem) {
            autoridades = pem;
            return this;
        }

        /** Com que se pergunta sem certificado: pedirToken o dá. */
        public Opcoes token(String valor) {
            token = semEspacos("token", valor);
            return this;
        }

        /** Quantas vezes uma chamada pode sair. */
        public Opcoes tentativas(int quantas) {
            tentativas = quantas;
            return this;
        }

        /** Tempo de uma chamada com todas as suas tentativas. */
        public Opcoes prazo(Duration tempo) {
            prazo = tempo;
            return this;
        }

        /** Tempo de uma tentativa. */
        public Opcoes tempoLimite(Duration tempo) {
            tempoLimite = tempo;
            return this;
        }

        /** Antes da segunda tentativa, se o serviço não pede outra coisa; dobra a cada uma, até a máxima. */
        public Opcoes esperas(Duration primeira, Duration maxima) {
            primeiraEspera = primeira;
            esperaMaxima = maxima;
            return this;
        }
    }

    /** Como se envia uma DPS ou um evento. */
    public static final class Envio {
        private String chave;
        private String assinatura;
        private String simular;

        /** A Idempotency-Key: grave-a antes de enviar, e use-a em toda repetição. Sem ela o cliente faz uma. */
        public Envio chave(String valor) {
            chave = valor;
            return this;
        }

        /** De um corpo JSON que já foi assinado. */
        public Envio assinatura(String valor) {
            assinatura = valor;
            return this;
        }

        /** Só na integração: o que o ADN deve ensaiar. */
        public Envio simular(String valor) {
            simular = valor;
            return this;
        }
    }

    private final String base;
    private final String municipio;
    private final Certificado certificado;
    private final Opcoes opcoes;
    private final HttpClient http;
    private final HttpClient identificado;

    /** Sem certificado nada é assinado: serve na integração, e para o que já vem assinado. */
    public EmissorNfse(String url, String municipio) {
        this(url, municipio, null, new Opcoes());
    }

    public EmissorNfse(String url, String municipio, Certificado certificado) {
        this(url, municipio, certificado, new Opcoes());
    }

    /** {@code municipio}: integracao, um ambiente só seu (ensaio-xxxxxx), ou o da prefeitura. {@code certificado}: pode ser nulo. */
    public EmissorNfse(String url, String municipio, Certificado certificado, Opcoes opcoes) {
        if (!url.matches("https?://[^/?#@\\s]+(/[^?#@\\s]*)?")) {
            throw new IllegalArgumentException("url é um endereço como https://nfse.exemplo.gov.br, sem usuário, senha, ? nem #.");
        }
        this.base = url.replaceAll("/+$", "") + "/" + segmento("municipio", municipio);
        this.municipio = municipio;
        this.certificado = certificado;
        this.opcoes = opcoes;
        this.http = conexoes(null);
        this.identificado = certificado == null ? http : conexoes(certificado);
    }

    /**
     * Emite a nota de uma DPS, em XML ou em JSON. Insiste até saber se emitiu; uma repetição com a mesma chave nunca é uma segunda nota.
     *
     * @throws ErroDoEmissor Recusado, NaoEntregue ou Indeterminado
     */
    public NotaEmitida emitirNota(byte[] dps) {
        return emitirNota(dps, new Envio());
    }

    /** Com os nomes do corpo JSON. */
    public NotaEmitida emitirNota(Map<String, ?> dps, Envio envio) {
        return emitirNota(Json.escrever(dps), envio);
    }

    public NotaEmitida emitirNota(byte[] dps, Envio envio) {
        try {
            Pedido pedido = new Pedido(EMITIR_NOTA).corpo(dps, envio);
            pedido.exige = "chave_acesso";
            return new NotaEmitida(ler(pedido));
        } catch (Recusado recusa) {
            Erro erro = recusa.erros.isEmpty() ? null : recusa.erros.get(0);
            boolean minha = erro != null && "E0014".equals(erro.codigo) && Boolean.TRUE.equals(erro.mesmo_conteudo);
            if (!minha || erro.chave_acesso == null) throw recusa;
            // The note that was asked for is there already, from a sending under another key.
            Map<String, Object> dados = new LinkedHashMap<>();
            dados.put("status", "OK");
            dados.put("chave_acesso", erro.chave_acesso);
            dados.put("numero_protocolo", erro.numero_protocolo);
            dados.put("repetida", true);
            return new NotaEmitida(dados);
        }
    }

    /** Confere sem emitir: os valores com cada passo do cálculo, ou Recusado com todos os erros. */
    public DpsValidada validarDps(byte[] dps) {
        return new DpsValidada(ler(new Pedido(VALIDAR_DPS).corpo(dps, new Envio())));
    }

    public DpsValidada validarDps(Map<String, ?> dps) {
        return validarDps(Json.escrever(dps));
    }

    public NotaConsultada consultarNota(String chave_acesso) {
        return new NotaConsultada(ler(new Pedido(CONSULTAR_NOTA).nome("chave_acesso", chave_acesso)));
    }

    public NotaPorProtocolo consultarNotaPorProtocolo(String numero_protocolo) {
        return new NotaPorProtocolo(ler(new Pedido(CONSULTAR_NOTA_POR_PROTOCOLO).nome("numero_protocolo", numero_protocolo)));
    }

    /** Pelo identificador da DPS (identificadorDaDps). Em produção, com o certificado de uma parte. */
    public NotaPorDps consultarNotaPorDps(String identificador) {
        return new NotaPorDps(ler(new Pedido(CONSULTAR_NOTA_POR_DPS).nome("id", identificador)));
    }

    /** Se há nota da DPS; aberta também em produção. */
    public boolean existeNotaDaDps(String identificador) {
        Pedido pedido = new Pedido(EXISTE_NOTA_DA_DPS).nome("id", identificador);
        pedido.aceita = 404;
        pedido.isJson = false;
        Resposta resposta = responder(pedido);
        if (resposta.status == 404 && resposta.cabecalho("x-nfse-ambiente") == null) {
            Falha falha = new Falha("nao_entregue", "", false, resposta, null, null);
            throw new NaoEntregue("O endereço não é de nenhum município atendido. Confira url e municipio.", "existeNotaDaDps", 1, falha);
        }
        return resposta.status == 200;
    }

    /** Consulta até que a nota repouse: nota.status autorizada ou cancelada, ou protocolo.status rejeitado. */
    public NotaConsultada acompanharNota(String chave_acesso, Duration prazo) {
        return acompanhar(
            () -> new Pedido(CONSULTAR_NOTA).nome("chave_acesso", chave_acesso),
            NotaConsultada::new,
            lida -> !"rascunho".equals(lida.nota.status) || "rejeitado".equals(lida.protocolo.status),
            prazo);
    }

    /** Registra um evento na nota, e insiste como emitirNota. Um mapa leva sozinho a chave da nota. */
    public EventoRegistrado registrarEvento(String chave_acesso, Map<String, ?> pedido, Envio envio) {
        return registrarEvento(chave_acesso, Json.escrever(comNome("chave_acesso", chave_acesso, pedido)), envio);
    }

    public EventoRegistrado registrarEvento(String chave_acesso, byte[] pedido, Envio envio) {
        return registrar(new Pedido(REGISTRAR_EVENTO).nome("chave_acesso", chave_acesso), pedido, envio);
    }

    public EventoRegistrado registrarEventoPorProtocolo(String numero_protocolo, Map<String, ?> pedido, Envio envio) {
        byte[] corpo = Json.escrever(comNome("numero_protocolo", numero_protocolo, pedido));
        return registrar(new Pedido(REGISTRAR_EVENTO_POR_PROTOCOLO).nome("numero_protocolo", numero_protocolo), corpo, envio);
    }

    public EventosListados listarEventos(String chave_acesso) {
        return new EventosListados(ler(new Pedido(LISTAR_EVENTOS).nome("chave_acesso", chave_acesso)));
    }

    public Evento consultarEvento(String chave_acesso, String tipo_evento, long numero_sequencial) {
        return new EventoConsultado(ler(evento(chave_acesso, tipo_evento, numero_sequencial))).evento;
    }

    /** Consulta até que esperar não adiante mais; o que foi feito do evento diz status_evento. */
    public Evento acompanharEvento(String chave_acesso, String tipo_evento, long numero_sequencial, Duration prazo) {
        return acompanhar(
            () -> evento(chave_acesso, tipo_evento, numero_sequencial),
            dados -> new EventoConsultado(dados).evento,
            lido -> !"aguardar".equals(lido.acao_sugerida) && !"retentar".equals(lido.acao_sugerida),
            prazo);
    }

    /** O PDF de uma nota autorizada. */
    public byte[] baixarDanfse(String chave_acesso) {
        Pedido pedido = new Pedido(BAIXAR_DANFSE).nome("chave_acesso", chave_acesso);
        pedido.aceito = "application/pdf";
        pedido.isJson = false;
        return responder(pedido).corpo;
    }

    /** Um token para consultar, em nome de um CNPJ ou CPF; só esta resposta o mostra. Em produção o pedido vai assinado, e serve uma vez. */
    public TokenPedido pedirToken(String documento) {
        return pedirToken(documento, null, null);
    }

    /** {@code escopos} e {@code validadeDias}: nulos, o que o serviço dá sem eles. */
    public TokenPedido pedirToken(String documento, List<String> escopos, Integer validadeDias) {
        return pedirToken(documento, escopos, validadeDias, municipio.matches("integracao|ensaio-[a-z0-9]{6}") ? "homologacao" : "producao");
    }

    /** {@code ambiente}: o do município, producao ou homologacao; em homologacao não se assina. */
    public TokenPedido pedirToken(String documento, List<String> escopos, Integer validadeDias, String ambiente) {
        boolean assina = certificado != null && ambiente.equals("producao");
        Map<String, Object> dados = new LinkedHashMap<>();
        dados.put("documento", documento);
        if (escopos != null) dados.put("escopos", escopos);
        if (validadeDias != null) dados.put("validade_dias", validadeDias);
        if (assina) {
            dados.put("acao", "criar");
            dados.put("municipio", municipio);
            dados.put("ambiente", ambiente);
            dados.put("emitido_em", Instant.now().toString());
            dados.put("pedido", UUID.randomUUID().toString());
        }
        Pedido pedido = new Pedido(PEDIR_TOKEN).json(dados);
        if (assina) {
            pedido.assinatura = assinarCms(pedido.corpo, certificado);
            pedido.tentativas = 1;
        }
        pedido.exige = "token";
        return new TokenPedido(ler(pedido));
    }

    /** Uma página das notas do documento do token, ou do certificado. Os filtros são os da página "Listas"; cursor pede a seguinte. */
    public NotasListadas listarNotas(Map<String, ?> filtros) {
        Pedido pedido = new Pedido(LISTAR_NOTAS);
        filtros.forEach((nome, valor) -> pedido.consulta(nome, valor));
        return new NotasListadas(ler(pedido));
    }

    /** O que mudou desde um cursor (nulo: do começo), ou o que mudar na espera, de até 25 s. Guarde o cursor depois de tratar. */
    public MudancasSeguidas seguirMudancas(String desde, Duration espera) {
        if (espera.isNegative() || espera.toSeconds() > 25) throw new IllegalArgumentException("espera vai de 0 a 25 segundos.");
        Pedido pedido = new Pedido(SEGUIR_MUDANCAS).consulta("desde", desde);
        if (espera.toSeconds() > 0) pedido.consulta("espera", espera.toSeconds());
        pedido.exige = "cursor";
        return new MudancasSeguidas(ler(pedido));
    }

    /** Faz um ambiente só seu; num cliente de integracao. Só esta resposta mostra a chave do dono. Nome, relogio e o rigor vão nos dados. */
    public AmbienteCriado criarAmbiente(Map<String, ?> dados) {
        Pedido pedido = new Pedido(CRIAR_AMBIENTE).json(dados);
        pedido.exige = "chave";
        return new AmbienteCriado(ler(pedido));
    }

    /** Muda o relógio (relogio ou avancar), que só avança, e o rigor. Tokens que vencem até a hora nova deixam de servir. */
    public Ambiente alterarAmbiente(String chave, Map<String, ?> dados) {
        return new AmbienteAlterado(ler(new Pedido(ALTERAR_AMBIENTE).json(dados).token(chave))).ambiente;
    }

    /** A DPS de um cenário, em XML, pronta para emitirNota. */
    public byte[] documentoDaPersona(String chave, String persona, String cenario) {
        Pedido pedido = new Pedido(DOCUMENTO_DA_PERSONA).nome("persona", persona).nome("cenario", cenario).token(chave);
        pedido.aceito = "application/xml";
        pedido.isJson = false;
        return responder(pedido).corpo;
    }

    private static String semEspacos(String nome, String valor) {
        if (valor == null || !valor.matches("[!-~]+")) throw new IllegalArgumentException(nome + " é o texto que o serviço mostrou, sem espaços.");
        return valor;
    }

    /** O identificador de uma DPS: município emissor (IBGE), CNPJ ou CPF do prestador sem pontuação, série e número. */
    public static String identificadorDaDps(String municipio, String documento, String serie, String numero) {
        String tipo = documento.length() == 11 ? "1" : "2";
        return "DPS" + municipio + tipo + comZeros(documento, 14) + comZeros(serie, 5) + comZeros(numero, 15);
    }

    private static String comZeros(String texto, int tamanho) {
        return "0".repeat(Math.max(0, tamanho - texto.length())) + texto;
    }

    private static Map<String, Object> comNome(String nome, String valor, Map<String, ?> pedido) {
        Map<String, Object> dados = new LinkedHashMap<>();
        dados.put(nome, valor);
        dados.putAll(pedido);
        return dados;
    }

    private EventoRegistrado registrar(Pedido pedido, byte[] corpo, Envio envio) {
        pedido.corpo(corpo, envio).exige = "chave_acesso";
        if (!pedido.tipo.equals("json")) throw new IllegalArgumentException("Um evento se registra com um corpo JSON.");
        return new EventoRegistrado(ler(pedido));
    }

    private Pedido evento(String chave_acesso, String tipo_evento, long numero_sequencial) {
        return new Pedido(CONSULTAR_EVENTO)
            .nome("chave_acesso", chave_acesso)
            .nome("tipo_evento", tipo_evento)
            .nome("num_seq_evento", Long.toString(numero_sequencial));
    }

    // A chamada

    private static final class Operacao {
        final String nome;
        final String metodo;
        final String caminho;
        /** Repeated under one key it is answered as it was. */
        final boolean seRepete;
        /** In production for one party alone, who is known by the certificate of the connection. */
        final boolean comCertificado;
        final String assinatura;

        Operacao(String nome, String metodo, String caminho, boolean seRepete, boolean comCertificado, String assinatura) {
            this.nome = nome;
            this.metodo = metodo;
            this.caminho = caminho;
            this.seRepete = seRepete;
            this.comCertificado = comCertificado;
            this.assinatura = assinatura;
        }
    }

    /** What one request takes besides its operation. */
    private final class Pedido {
        final Operacao operacao;
        String caminho;
        byte[] corpo;
        String tipo;
        String assinatura;
        Envio envio = new Envio();
        String exige;
        int aceita;
        String aceito = "application/json";
        boolean isJson = true;
        int tentativas = opcoes.tentativas;
        String token = opcoes.token;

        Pedido(Operacao operacao) {
            this.operacao = operacao;
            this.caminho = operacao.caminho;
        }

        Pedido nome(String nome, String valor) {
            caminho = caminho.replace("{" + nome + "}", segmento(nome, valor));
            return this;
        }

        /** What is null is left out. */
        Pedido consulta(String nome, Object valor) {
            if (valor == null) return this;
            String escolha = nome + "=" + URLEncoder.encode(valor.toString(), StandardCharsets.UTF_8);
            caminho += (caminho.contains("?") ? "&" : "?") + escolha;
            return this;
        }

        Pedido json(Map<String, ?> dados) {
            tipo = "json";
            corpo = Json.escrever(dados);
            return this;
        }

        /** In place of the token of the client. */
        Pedido token(String valor) {
            token = semEspacos("chave", valor);
            return this;
        }

        Pedido corpo(byte[] bytes, Envio como) {
            envio = como;
            String inicio = new String(bytes, 0, Math.min(256, bytes.length), StandardCharsets.ISO_8859_1)
                .replaceFirst("^(\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)", "").replaceAll("[\\x00\\s]", "");
            if (inicio.startsWith("{") || inicio.startsWith("[")) {
                tipo = "json";
                corpo = bytes;
                assinatura = como.assinatura == null && certificado != null ? assinarCms(bytes, certificado) : como.assinatura;
                return this;
            }
            if (como.assinatura != null) throw new IllegalArgumentException("assinatura é de um corpo JSON; a de um XML vai dentro dele.");
            tipo = "xml";
            corpo = certificado == null || estaAssinado(bytes) ? bytes : assinarXml(bytes, certificado);
            return this;
        }
    }

    /** O que voltou. */
    private static final class Resposta {
        final int status;
        final Map<String, List<String>> cabecalhos;
        final byte[] corpo;

        Resposta(int status, Map<String, List<String>> cabecalhos, byte[] corpo) {
            this.status = status;
            this.cabecalhos = cabecalhos;
            this.corpo = corpo;
        }

        String cabecalho(String nome) {
            List<String> valores = cabecalhos.get(nome);
            return valores == null || valores.isEmpty() ? null : valores.get(0);
        }

        /** How long the answer asks to be waited for, in milliseconds; null where it does not. */
        Long espera() {
            String texto = cabecalho("retry-after");
            if (texto == null) return null;
            if (texto.trim().matches("\\d{1,9}")) return Long.parseLong(texto.trim()) * 1000;
            try {
                Instant quando = ZonedDateTime.parse(texto.trim(), DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
                return Math.max(0, Duration.between(Instant.now(), quando).toMillis());
            } catch (DateTimeParseException erro) {
                return null;
            }
        }
    }

    /** What one try came to, besides an answer. */
    private static final class Falha {
        final String desfecho;
        final String motivo;
        final boolean seRepete;
        final Resposta resposta;
        final Map<String, Object> envelope;
        final Throwable causa;

        Falha(String desfecho, String motivo, boolean seRepete, Resposta resposta, Map<String, Object> envelope, Throwable causa) {
            this.desfecho = desfecho;
            this.motivo = motivo;
            this.seRepete = seRepete;
            this.resposta = resposta;
            this.envelope = envelope;
            this.causa = causa;
        }
    }

    private Map<String, Object> ler(Pedido pedido) {
        Resposta resposta = responder(pedido);
        Map<String, Object> dados = Json.objeto(resposta.corpo);
        dados.put("repetida", "true".equals(resposta.cabecalho("x-nfse-repetida")));
        return dados;
    }

    /** Calls as often as it takes, with the same bytes under the same key, until one of the three outcomes. */
    private Resposta responder(Pedido pedido) {
        Operacao operacao = pedido.operacao;
        HttpRequest.Builder montado = HttpRequest.newBuilder(URI.create(base + pedido.caminho)).header("Accept", pedido.aceito);
        montado.method(operacao.metodo, pedido.corpo == null
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofByteArray(pedido.corpo));
        if (pedido.corpo != null) montado.header("Content-Type", "application/" + pedido.tipo);
        String token = operacao.comCertificado ? pedido.token : null;
        if (token != null) montado.header("Authorization", "Bearer " + token);
        if (pedido.assinatura != null) montado.header(operacao.assinatura, pedido.assinatura);
        if (pedido.envio.simular != null) montado.header("X-NFSe-Simular", pedido.envio.simular);
        Repeticao repeticao = null;
        if (operacao.seRepete) {
            String chave = pedido.envio.chave == null ? UUID.randomUUID().toString() : pedido.envio.chave;
            if (!chave.matches("[!-~](?:[ -~]{0,253}[!-~])?")) {
                throw new IllegalArgumentException("chave tem de 1 a 255 caracteres ASCII, sem espaço no começo nem no fim.");
            }
            montado.header("Idempotency-Key", chave);
            repeticao = new Repeticao(chave, pedido.corpo, pedido.assinatura);
        }
        HttpRequest requisicao = montado.build();
        long fim = System.nanoTime() + opcoes.prazo.toNanos();
        boolean emDuvida = false;
        for (int vez = 1; ; vez++) {
            long limite = Math.max(1, Math.min(opcoes.tempoLimite.toMillis(), (fim - System.nanoTime()) / 1_000_000));
            Resposta[] chegou = new Resposta[1];
            Falha falha = enviar(operacao.comCertificado && token == null ? identificado : http, requisicao, limite, chegou);
            if (falha == null) falha = lerResposta(chegou[0], pedido);
            if (falha == null) return chegou[0];
            // A reading leaves no doubt behind: it may be put again whatever became of it.
            emDuvida = emDuvida || falha.desfecho.equals("indeterminado") && repeticao != null;
            Long pedida = falha.resposta == null ? null : falha.resposta.espera();
            double dobro = Math.min(opcoes.primeiraEspera.toMillis() * Math.pow(2, vez - 1), opcoes.esperaMaxima.toMillis());
            long espera = pedida != null ? pedida : (long) (dobro * ThreadLocalRandom.current().nextDouble(0.5, 1));
            boolean acabou = vez >= pedido.tentativas || System.nanoTime() + espera * 1_000_000 >= fim;
            if (!falha.seRepete || acabou || !esperar(espera)) throw desfecho(operacao.nome, vez, falha, emDuvida, repeticao);
        }
    }

    /** False when somebody interrupts, which stays known to the thread. */
    private static boolean esperar(long milissegundos) {
        try {
            Thread.sleep(Math.max(0, milissegundos));
            return true;
        } catch (InterruptedException erro) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** One exchange, within a time for the whole of it; null when there was an answer. */
    private static Falha enviar(HttpClient http, HttpRequest requisicao, long limite, Resposta[] chegou) {
        CompletableFuture<HttpResponse<byte[]>> vinda = http.sendAsync(requisicao, sobre -> new Limitado());
        try {
            HttpResponse<byte[]> resposta = vinda.get(limite, TimeUnit.MILLISECONDS);
            chegou[0] = new Resposta(resposta.statusCode(), resposta.headers().map(), resposta.body());
            return null;
        } catch (TimeoutException erro) {
            vinda.cancel(true);
            return new Falha("indeterminado", "Não houve resposta: o tempo se esgotou.", true, null, null, erro);
        } catch (InterruptedException erro) {
            vinda.cancel(true);
            Thread.currentThread().interrupt();
            return new Falha("indeterminado", "A chamada foi interrompida depois de sair.", false, null, null, erro);
        } catch (ExecutionException erro) {
            Throwable causa = erro.getCause();
            // Of a connection that never stood, nor its TLS, nothing was sent.
            boolean naoSaiu = causa instanceof ConnectException || causa instanceof HttpConnectTimeoutException
                || causa instanceof SSLHandshakeException || causa instanceof SSLPeerUnverifiedException;
            return naoSaiu
                ? new Falha("nao_entregue", "Não houve conexão (" + causa + ").", true, null, null, causa)
                : new Falha("indeterminado", "Não houve resposta (" + causa + ").", true, null, null, causa);
        }
    }

    /** A body of bounded size. */
    private static final class Limitado implements HttpResponse.BodySubscriber<byte[]> {
        private static final int TAMANHO_MAXIMO = 32 * 1024 * 1024;
        private final CompletableFuture<byte[]> fim = new CompletableFuture<>();
        private final ByteArrayOutputStream recebido = new ByteArrayOutputStream();
        private Flow.Subscription assinatura;

        @Override
        public CompletionStage<byte[]> getBody() {
            return fim;
        }

        @Override
        public void onSubscribe(Flow.Subscription nova) {
            assinatura = nova;
            nova.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> pedacos) {
            for (ByteBuffer um : pedacos) {
                byte[] bytes = new byte[um.remaining()];
                um.get(bytes);
                recebido.write(bytes, 0, bytes.length);
            }
            if (recebido.size() > TAMANHO_MAXIMO) {
                assinatura.cancel();
                fim.completeExceptionally(new IOException("a resposta é grande demais"));
            }
        }

        @Override
        public void onError(Throwable erro) {
            fim.completeExceptionally(erro);
        }

        @Override
        public void onComplete() {
            fim.complete(recebido.toByteArray());
        }
    }

    /** The table of the page "Os desfechos de um envio", row by row; null for an answer. */
    private static Falha lerResposta(Resposta resposta, Pedido pedido) {
        int status = resposta.status;
        if (status == pedido.aceita) return null;
        Map<String, Object> dados = Json.objeto(resposta.corpo);
        if (status >= 200 && status < 300) {
            boolean inteira = dados != null && (pedido.exige == null || dados.get(pedido.exige) instanceof String);
            if (!pedido.isJson || inteira) return null;
            String motivo = "A resposta (HTTP " + status + ") não é inteira, ou não é deste serviço. Confira url.";
            return new Falha("indeterminado", motivo, true, resposta, null, null);
        }
        boolean isEnvelope = dados != null && dados.get("codigo_erro") instanceof String && dados.get("mensagem") instanceof String
            && dados.get("erros") instanceof List;
        Map<String, Object> envelope = isEnvelope ? dados : null;
        String dito = "HTTP " + status + (isEnvelope ? ", " + dados.get("codigo_erro") + ": " + dados.get("mensagem") : "");
        if (status >= 500) {
            return new Falha("indeterminado", "O serviço falhou (" + dito + ").", status != 501 && status != 505, resposta, envelope, null);
        }
        if (status == 409) return new Falha("indeterminado", "Há outra igual em andamento (" + dito + ").", true, resposta, envelope, null);
        if (status == 408 || status == 429) {
            return new Falha("nao_entregue", "O serviço não atendeu (" + dito + ").", true, resposta, envelope, null);
        }
        if (!isEnvelope || status == 413) {
            String motivo = status == 413 ? "O corpo é grande demais" : "Respondeu algo que não é deste serviço";
            return new Falha("nao_entregue", motivo + " (" + dito + "). Confira url.", false, resposta, envelope, null);
        }
        return new Falha("recusado", dados.get("codigo_erro") + ": " + dados.get("mensagem"), false, resposta, envelope, null);
    }

    /**
     * What a call ends with. A doubt ends by a refusal of the document (400, 422), which under one key is the answer of the first try; what
     * is refused before the key is looked at, as a signature is, says nothing of a try that went before.
     */
    private static ErroDoEmissor desfecho(String operacao, int vez, Falha falha, boolean emDuvida, Repeticao repeticao) {
        boolean encerra = falha.resposta != null && (falha.resposta.status == 400 || falha.resposta.status == 422)
            && falha.envelope != null && !((String) falha.envelope.get("codigo_erro")).matches("E90[1-6]");
        if (falha.desfecho.equals("recusado") && (!emDuvida || encerra)) {
            return new Recusado(falha.motivo, operacao, vez, falha.resposta, falha.envelope);
        }
        if (!emDuvida || repeticao == null) return new NaoEntregue(falha.motivo, operacao, vez, falha);
        String texto = falha.motivo + " Não se sabe se " + operacao + " foi feita: repita com a mesma chave, " + repeticao.chave + ".";
        return new Indeterminado(texto, operacao, vez, falha, repeticao);
    }

    private interface Fonte {
        Pedido pedido();
    }

    private <M> M acompanhar(Fonte fonte, Function<Map<String, Object>, M> novo, Predicate<M> repousa, Duration prazo) {
        long fim = System.nanoTime() + prazo.toNanos();
        long pausa = 250;
        while (true) {
            long acaso = (long) (pausa * ThreadLocalRandom.current().nextDouble(1, 1.25));
            if (!esperar(Math.min(acaso, (fim - System.nanoTime()) / 1_000_000))) throw new AindaEmAndamento(prazo);
            pausa = Math.min(pausa * 2, 60_000);
            try {
                Pedido pedido = fonte.pedido();
                pedido.tentativas = 1;
                Resposta resposta = responder(pedido);
                M lida = novo.apply(Json.objeto(resposta.corpo));
                if (repousa.test(lida)) return lida;
                Long pedida = resposta.espera();
                if (pedida != null) pausa = Math.max(pausa, pedida);
            } catch (NaoEntregue erro) {
                // A service that is away for a moment ends nothing; it answers no question before the time that it asks for.
                if (erro.espera != null && System.nanoTime() + erro.espera.toNanos() >= fim) throw new AindaEmAndamento(erro);
                if (erro.espera != null) pausa = Math.max(pausa, erro.espera.toMillis());
            }
            if (System.nanoTime() >= fim) throw new AindaEmAndamento(prazo);
        }
    }

    private HttpClient conexoes(Certificado mostrado) {
        HttpClient.Builder montado = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            // Ends before the time of the whole, so that a connection that never stood is told apart.
            .connectTimeout(opcoes.tempoLimite.dividedBy(2));
        if (mostrado == null && opcoes.autoridades == null) return montado.build();
        try {
            SSLContext tls = SSLContext.getInstance("TLS");
            KeyManagerFactory chaves = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            if (mostrado != null) {
                List<Certificate> todos = new ArrayList<>(List.of(mostrado.certificado));
                todos.addAll(mostrado.cadeia);
                KeyStore guarda = vazia();
                guarda.setKeyEntry("a1", mostrado.chave, new char[0], todos.toArray(new Certificate[0]));
                chaves.init(guarda, new char[0]);
            }
            TrustManagerFactory confianca = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            confianca.init(opcoes.autoridades == null ? null : autoridades(opcoes.autoridades));
            tls.init(mostrado == null ? null : chaves.getKeyManagers(), confianca.getTrustManagers(), null);
            return montado.sslContext(tls).build();
        } catch (IOException | GeneralSecurityException erro) {
            throw new CertificadoRecusado("A conexão não se prepara: " + erro.getMessage(), erro);
        }
    }

    private static KeyStore autoridades(String pem) throws IOException, GeneralSecurityException {
        KeyStore guarda = vazia();
        int quantas = 0;
        ByteArrayInputStream lidas = new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII));
        for (Certificate um : CertificateFactory.getInstance("X.509").generateCertificates(lidas)) {
            guarda.setCertificateEntry("ca" + quantas++, um);
        }
        if (quantas == 0) throw new CertificateException("autoridades não traz nenhum certificado em PEM");
        return guarda;
    }

    private static KeyStore vazia() throws IOException, GeneralSecurityException {
        KeyStore guarda = KeyStore.getInstance("PKCS12");
        guarda.load(null, null);
        return guarda;
    }

    private static String segmento(String nome, String valor) {
        if (valor == null || valor.isEmpty() || valor.equals(".") || valor.equals("..")) {
            throw new IllegalArgumentException(nome + " não foi informado.");
        }
        return URLEncoder.encode(valor, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String emUtf8(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException erro) {
            return null;
        }
    }

    /** As much JSON as a request and an answer take: the JDK has none. */
    private static final class Json {
        private static final int NIVEIS_MAXIMO = 64;
        private final String texto;
        private int lugar;

        private Json(String texto) {
            this.texto = texto;
        }

        /** An object; null where the bytes are no JSON object. */
        @SuppressWarnings("unchecked")
        static Map<String, Object> objeto(byte[] bytes) {
            String texto = emUtf8(bytes);
            if (texto == null) return null;
            try {
                Json leitor = new Json(texto);
                Object valor = leitor.valor(0);
                leitor.branco();
                return leitor.lugar == texto.length() && valor instanceof Map ? (Map<String, Object>) valor : null;
            } catch (IllegalStateException | IndexOutOfBoundsException | NumberFormatException erro) {
                return null;
            }
        }

        private void branco() {
            while (lugar < texto.length() && " \t\r\n".indexOf(texto.charAt(lugar)) >= 0) lugar++;
        }

        private Object valor(int nivel) {
            if (nivel > NIVEIS_MAXIMO) throw new IllegalStateException();
            branco();
            char primeiro = texto.charAt(lugar);
            if (primeiro == '{') return mapa(nivel);
            if (primeiro == '[') return lista(nivel);
            if (primeiro == '"') return cadeia();
            for (String nome : List.of("true", "false", "null")) {
                if (texto.startsWith(nome, lugar)) {
                    lugar += nome.length();
                    return nome.equals("null") ? null : (Object) nome.equals("true");
                }
            }
            int comeco = lugar;
            while (lugar < texto.length() && "+-.eE0123456789".indexOf(texto.charAt(lugar)) >= 0) lugar++;
            String numero = texto.substring(comeco, lugar);
            if (numero.matches("-?\\d{1,18}")) return Long.valueOf(numero);
            return new BigDecimal(numero);
        }

        private Map<String, Object> mapa(int nivel) {
            Map<String, Object> dados = new LinkedHashMap<>();
            lugar++;
            branco();
            if (texto.charAt(lugar) == '}') {
                lugar++;
                return dados;
            }
            while (true) {
                branco();
                String nome = cadeia();
                branco();
                if (texto.charAt(lugar++) != ':') throw new IllegalStateException();
                dados.put(nome, valor(nivel + 1));
                branco();
                char depois = texto.charAt(lugar++);
                if (depois == '}') return dados;
                if (depois != ',') throw new IllegalStateException();
            }
        }

        private List<Object> lista(int nivel) {
            List<Object> dados = new ArrayList<>();
            lugar++;
            branco();
            if (texto.charAt(lugar) == ']') {
                lugar++;
                return dados;
            }
            while (true) {
                dados.add(valor(nivel + 1));
                branco();
                char depois = texto.charAt(lugar++);
                if (depois == ']') return dados;
                if (depois != ',') throw new IllegalStateException();
            }
        }

        private String cadeia() {
            if (texto.charAt(lugar++) != '"') throw new IllegalStateException();
            StringBuilder lida = new StringBuilder();
            while (true) {
                char um = texto.charAt(lugar++);
                if (um == '"') return lida.toString();
                if (um < ' ') throw new IllegalStateException();
                if (um != '\\') {
                    lida.append(um);
                    continue;
                }
                char marca = texto.charAt(lugar++);
                int qual = "\"\\/bfnrt".indexOf(marca);
                if (qual >= 0) lida.append("\"\\/\b\f\n\r\t".charAt(qual));
                else if (marca == 'u') {
                    lida.append((char) Integer.parseInt(texto.substring(lugar, lugar + 4), 16));
                    lugar += 4;
                } else throw new IllegalStateException();
            }
        }

        static byte[] escrever(Map<String, ?> dados) {
            StringBuilder saida = new StringBuilder();
            escrever(dados, saida);
            return saida.toString().getBytes(StandardCharsets.UTF_8);
        }

        private static void escrever(Object valor, StringBuilder saida) {
            if (valor == null || valor instanceof Number || valor instanceof Boolean) saida.append(valor);
            else if (valor instanceof Map) {
                String antes = "{";
                for (Map.Entry<?, ?> um : ((Map<?, ?>) valor).entrySet()) {
                    saida.append(antes);
                    escrever(String.valueOf(um.getKey()), saida);
                    saida.append(':');
                    escrever(um.getValue(), saida);
                    antes = ",";
                }
                saida.append(antes.equals("{") ? "{}" : "}");
            } else if (valor instanceof Iterable) {
                saida.append('[');
                for (Iterator<?> um = ((Iterable<?>) valor).iterator(); um.hasNext(); ) {
                    escrever(um.next(), saida);
                    if (um.hasNext()) saida.append(',');
                }
                saida.append(']');
            } else if (valor instanceof CharSequence) escreverTexto(valor.toString(), saida);
            else throw new IllegalArgumentException("O corpo JSON não leva " + valor.getClass().getName() + ".");
        }

        private static void escreverTexto(String texto, StringBuilder saida) {
            saida.append('"');
            for (char um : texto.toCharArray()) {
                if (um == '"' || um == '\\') saida.append('\\').append(um);
                else if (um < ' ') saida.append(String.format("\\u%04x", (int) um));
                else saida.append(um);
            }
            saida.append('"');
        }
    }

    // As respostas. O que um serviço mais novo diz a mais não se lê; o que falta é nulo.

    private static String texto(Map<String, Object> dados, String nome) {
        Object valor = dados.get(nome);
        return valor instanceof String ? (String) valor : null;
    }

    private static Long inteiro(Map<String, Object> dados, String nome) {
        Object valor = dados.get(nome);
        return valor instanceof Long ? (Long) valor : null;
    }

    private static Boolean booleano(Map<String, Object> dados, String nome) {
        Object valor = dados.get(nome);
        return valor instanceof Boolean ? (Boolean) valor : null;
    }

    @SuppressWarnings("unchecked")
    private static <M> M parte(Map<String, Object> dados, String nome, Function<Map<String, Object>, M> novo) {
        Object valor = dados.get(nome);
        return valor instanceof Map ? novo.apply((Map<String, Object>) valor) : null;
    }

    /** A list that is missing is an empty one. */
    @SuppressWarnings("unchecked")
    private static <M> List<M> lista(Map<String, Object> dados, String nome, Function<Map<String, Object>, M> novo) {
        List<M> lidos = new ArrayList<>();
        Object valor = dados.get(nome);
        if (valor instanceof List) {
            for (Object um : (List<Object>) valor) if (um instanceof Map) lidos.add(novo.apply((Map<String, Object>) um));
        }
        return Collections.unmodifiableList(lidos);
    }

    @SuppressWarnings("unchecked")
    private static List<String> textos(Map<String, Object> dados, String nome) {
        List<String> lidos = new ArrayList<>();
        Object valor = dados.get(nome);
        if (valor instanceof List) for (Object um : (List<Object>) valor) if (um instanceof String) lidos.add((String) um);
        return Collections.unmodifiableList(lidos);
    }

    // GERADO da descrição OpenAPI, ao ser entregue pelo serviço; não se edita daqui
}
