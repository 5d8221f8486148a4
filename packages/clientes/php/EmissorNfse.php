<?php
/**
 * Cliente do Emissor NFS-e, num arquivo só: assina, emite, repete sem emitir duas vezes, acompanha, registra eventos, consulta.
 *
 *     require 'EmissorNfse.php';
 *     use EmissorNfse\{Cliente, Recusado};
 *
 *     $cliente = new Cliente('https://nfse.exemplo.gov.br', 'exemplo', file_get_contents('certificado.pfx'), $senha);
 *     try {
 *         $emitida = $cliente->emitirNota(file_get_contents('dps.xml'), chave: 'pedido-1234');
 *         echo $emitida->chave_acesso;
 *     } catch (Recusado $recusa) {
 *         echo $recusa->codigo_erro, ' ', $recusa->campo, ' ', $recusa->mensagem;
 *     }
 *
 * PHP 8.1 ou mais novo, com as extensões openssl, dom e curl, e nada mais. Copie este arquivo para o seu projeto.
 * Os nomes publicados (chave_acesso, codigo_erro) são os do serviço. Licença: Apache-2.0.
 */
declare(strict_types=1);

namespace EmissorNfse;

// Os erros

/** Um XML que não se assina, e por quê. Nada foi enviado. */
final class XmlRecusado extends \InvalidArgumentException
{
}

/** Um .pfx que não se abre, ou que não assina. Nada foi enviado. */
final class CertificadoRecusado extends \InvalidArgumentException
{
}

/** Com que se repete, byte por byte, um envio cujo fim não se conhece. Guarde-a. */
final class Repeticao
{
    public function __construct(
        public readonly string $chave,
        public readonly string $corpo,
        public readonly ?string $assinatura,
    ) {
    }
}

/** Uma chamada que não acabou bem. O que vem do envelope de erro é nulo se o serviço não chegou a responder com ele. */
abstract class ErroDoEmissor extends \RuntimeException
{
    public readonly ?string $codigo_erro;
    public readonly string $mensagem;
    public readonly mixed $detalhes;
    public readonly ?string $campo;
    /** Todos os erros da etapa que recusou. @var list<Erro> */
    public readonly array $erros;
    /** O envelope inteiro. */
    public readonly ?EnvelopeDeErro $envelope;
    /** Status HTTP da última resposta; nulo se não houve. */
    public readonly ?int $status;
    /** X-Request-Id da última resposta, para o suporte. */
    public readonly ?string $requisicao;
    /** Segundos que a última resposta pede que se espere (Retry-After); nulo se não pede. */
    public readonly ?float $espera;

    public function __construct(
        string $texto,
        public readonly string $operacao,
        public readonly int $tentativas,
        ?Resposta $resposta,
        ?array $envelope,
    ) {
        parent::__construct($texto);
        $this->envelope = $envelope === null ? null : EnvelopeDeErro::ler($envelope);
        $this->codigo_erro = $envelope['codigo_erro'] ?? null;
        $this->mensagem = $envelope['mensagem'] ?? $texto;
        $this->detalhes = $envelope['detalhes'] ?? null;
        $this->campo = $this->envelope?->campo;
        $this->erros = $this->envelope?->erros ?? [];
        $this->status = $resposta?->status;
        $this->requisicao = $resposta?->cabecalho('x-request-id');
        $this->espera = $resposta?->espera();
    }
}

/** O serviço leu e recusou: nada foi feito. Corrija pelo que dizem os erros; repetir sem mudar não adianta. */
final class Recusado extends ErroDoEmissor
{
}

/** A requisição não foi atendida: nada foi feito. Repita mais tarde, igual. */
final class NaoEntregue extends ErroDoEmissor
{
}

/** A requisição saiu e não se sabe se foi feita. Repita com a repetição, e nunca com outro número. */
final class Indeterminado extends ErroDoEmissor
{
    public function __construct(
        string $texto,
        string $operacao,
        int $tentativas,
        ?Resposta $resposta,
        ?array $envelope,
        public readonly Repeticao $repeticao,
    ) {
        parent::__construct($texto, $operacao, $tentativas, $resposta, $envelope);
    }
}

/** O prazo do acompanhamento acabou. Nada deu errado: consulte mais tarde, e não envie de novo. */
final class AindaEmAndamento extends \RuntimeException
{
}

// O certificado e a assinatura

/** Um certificado A1 e a chave dele, abertos de um PKCS#12 (.pfx, .p12). */
final class Certificado
{
    public readonly \OpenSSLAsymmetricKey $chave;
    /** Em DER. */
    public readonly string $der;
    /** As autoridades que vieram junto, em DER. @var list<string> */
    public readonly array $cadeia;

    public function __construct(string $pfx, #[\SensitiveParameter] string $senha)
    {
        if (!openssl_pkcs12_read($pfx, $partes, $senha)) {
            $motivo = openssl_error_string() ?: 'sem motivo';
            while (openssl_error_string() !== false) {
                // What OpenSSL has said so far would be taken for what goes wrong next.
            }
            $antigo = str_contains($motivo, 'unsupported') ? ' A cifra dele é antiga: exporte-o de novo, com AES ou 3DES.' : '';
            throw new CertificadoRecusado("O PKCS#12 não se abre: confira o arquivo e a senha ($motivo).$antigo");
        }
        $chave = openssl_pkey_get_private($partes['pkey'] ?? '');
        if ($chave === false || (openssl_pkey_get_details($chave)['type'] ?? null) !== OPENSSL_KEYTYPE_RSA || !isset($partes['cert'])) {
            throw new CertificadoRecusado('O PKCS#12 não traz um certificado com a sua chave RSA.');
        }
        $this->chave = $chave;
        $this->der = self::derDe($partes['cert']);
        $this->cadeia = array_map(self::derDe(...), array_values($partes['extracerts'] ?? []));
    }

    private static function derDe(string $pem): string
    {
        return base64_decode(preg_replace('/-----[^-]+-----|\s/', '', $pem));
    }

    /** O certificado e a cadeia, para a conexão. */
    public function pem(): string
    {
        $em = static fn (string $der): string =>
            "-----BEGIN CERTIFICATE-----\n" . chunk_split(base64_encode($der), 64, "\n") . "-----END CERTIFICATE-----\n";
        return implode('', array_map($em, [$this->der, ...$this->cadeia]));
    }

    public function assinar(string $bytes): string
    {
        if (!openssl_sign($bytes, $valor, $this->chave, OPENSSL_ALGO_SHA256)) {
            throw new CertificadoRecusado('A chave não assina: ' . openssl_error_string());
        }
        return $valor;
    }
}

const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const EXC_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';

/** Se o XML traz uma assinatura, de quem quer que seja. */
function estaAssinado(string $xml): bool
{
    return preg_match('/<(?:[\w.-]+:)?Signature[\s>]/', $xml) === 1 && str_contains($xml, DSIG);
}

/** A DPS com Signature depois de infDPS, e o resto como está. Lança XmlRecusado para o que não se pode assinar. */
function assinarXml(string $xml, Certificado $certificado): string
{
    $elemento = lerInfDps($xml);
    if (preg_match('~</(?:[\w.-]+:)?DPS[ \t\r\n]*>[ \t\r\n]*\z~', $xml, $fim, PREG_OFFSET_CAPTURE) !== 1) {
        throw new XmlRecusado('O documento não acaba em </DPS>.');
    }
    $resumo = base64_encode(hash('sha256', $elemento->C14N(true, false), true));
    // Written in its own canonical form, but for the declaration that stands in Signature.
    $informacao = '<CanonicalizationMethod Algorithm="' . EXC_C14N . '"></CanonicalizationMethod>'
        . '<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>'
        . '<Reference URI="#' . $elemento->getAttribute('Id') . '"><Transforms>'
        . '<Transform Algorithm="' . DSIG . 'enveloped-signature"></Transform>'
        . '<Transform Algorithm="' . EXC_C14N . '"></Transform></Transforms>'
        . '<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod>'
        . "<DigestValue>$resumo</DigestValue></Reference>";
    $valor = base64_encode($certificado->assinar('<SignedInfo xmlns="' . DSIG . "\">$informacao</SignedInfo>"));
    $assinatura = '<Signature xmlns="' . DSIG . "\"><SignedInfo>$informacao</SignedInfo><SignatureValue>$valor</SignatureValue>"
        . '<KeyInfo><X509Data><X509Certificate>' . base64_encode($certificado->der) . '</X509Certificate></X509Data></KeyInfo></Signature>';
    return substr_replace($xml, $assinatura, $fim[0][1], 0);
}

/** The one element that is signed, of a document in which there is nothing that the signature would not cover. */
function lerInfDps(string $xml): \DOMElement
{
    if (preg_match('//u', $xml) !== 1) {
        throw new XmlRecusado('O documento não está em UTF-8; converta-o antes de assinar.');
    }
    $antes = libxml_use_internal_errors(true);
    try {
        $documento = new \DOMDocument();
        $isLido = $xml !== '' && $documento->loadXML($xml, LIBXML_NONET);
        $erro = libxml_get_last_error();
    } finally {
        libxml_clear_errors();
        libxml_use_internal_errors($antes);
    }
    if (!$isLido) {
        throw new XmlRecusado('O XML não se lê: ' . ($erro ? "linha $erro->line: " . trim($erro->message) : 'está vazio'));
    }
    if (!in_array(strtoupper($documento->xmlEncoding ?? 'UTF-8'), ['UTF-8', 'UTF8'], true)) {
        throw new XmlRecusado("O documento diz estar em $documento->xmlEncoding, e só se assina UTF-8.");
    }
    if ($documento->doctype !== null) {
        throw new XmlRecusado('Há um DOCTYPE, que não se aceita em uma DPS.');
    }
    $busca = new \DOMXPath($documento);
    if ($busca->evaluate('count(//comment() | //processing-instruction())') > 0) {
        throw new XmlRecusado('Há um comentário ou uma instrução de processamento, que a assinatura não cobre.');
    }
    $elementos = iterator_to_array($busca->query('/*[local-name() = "DPS"]/*'));
    $assinado = $elementos[0] ?? null;
    if (!$assinado instanceof \DOMElement || $assinado->localName !== 'infDPS' || count($elementos) > 1) {
        $motivo = count($elementos) > 1 && $elementos[1]->localName === 'Signature' ? 'A DPS já está assinada.' : 'Dentro de DPS vem um infDPS, e só.';
        throw new XmlRecusado($motivo);
    }
    if ($busca->evaluate('count(/*/text()[normalize-space() != ""])') > 0) {
        throw new XmlRecusado('Há texto fora de infDPS, que a assinatura não cobre.');
    }
    if (preg_match('/^[A-Za-z0-9_.-]+$/D', $assinado->getAttribute('Id')) !== 1) {
        throw new XmlRecusado('Falta o Id de infDPS, a que a assinatura se refere.');
    }
    return $assinado;
}

/** O valor de X-DPS-Assinatura ou X-Evento-Assinatura: CMS destacado sobre estes bytes. Envie exatamente os mesmos. */
function assinarCms(string $corpo, Certificado $certificado): string
{
    $sha256 = Der::sequencia(Der::oid('2.16.840.1.101.3.4.2.1'), Der::nulo());
    $dados = Der::oid('1.2.840.113549.1.7.1');
    $atributo = static fn (string $oid, string $valor): string => Der::sequencia(Der::oid($oid), Der::conjunto($valor));
    $resumo = static fn (string $bytes): string => Der::valor(0x04, hash('sha256', $bytes, true));
    $atributos = [
        $atributo('1.2.840.113549.1.9.3', $dados),
        $atributo('1.2.840.113549.1.9.5', Der::valor(0x17, gmdate('ymdHis') . 'Z')),
        $atributo('1.2.840.113549.1.9.4', $resumo($corpo)),
        // Says within the signature whose certificate it is (CAdES).
        $atributo('1.2.840.113549.1.9.16.2.47', Der::sequencia(Der::sequencia(Der::sequencia($resumo($certificado->der))))),
    ];
    sort($atributos, SORT_STRING);
    $certificados = [$certificado->der, ...$certificado->cadeia];
    sort($certificados, SORT_STRING);
    $assinante = Der::sequencia(
        Der::inteiro(1),
        Der::emissorENumero($certificado->der),
        $sha256,
        Der::valor(0xa0, implode('', $atributos)),
        Der::sequencia(Der::oid('1.2.840.113549.1.1.1'), Der::nulo()),
        Der::valor(0x04, $certificado->assinar(Der::conjunto(...$atributos))),
    );
    $assinado = Der::sequencia(
        Der::inteiro(1),
        Der::conjunto($sha256),
        Der::sequencia($dados),
        Der::valor(0xa0, implode('', $certificados)),
        Der::conjunto($assinante),
    );
    return base64_encode(Der::sequencia(Der::oid('1.2.840.113549.1.7.2'), Der::valor(0xa0, $assinado)));
}

/** As much DER as a CMS takes. */
final class Der
{
    public static function valor(int $etiqueta, string $conteudo): string
    {
        $tamanho = strlen($conteudo);
        if ($tamanho < 0x80) {
            return chr($etiqueta) . chr($tamanho) . $conteudo;
        }
        $octetos = ltrim(pack('N', $tamanho), "\0");
        return chr($etiqueta) . chr(0x80 | strlen($octetos)) . $octetos . $conteudo;
    }

    public static function sequencia(string ...$partes): string
    {
        return self::valor(0x30, implode('', $partes));
    }

    /** Of one part, or of parts in their order. */
    public static function conjunto(string ...$partes): string
    {
        return self::valor(0x31, implode('', $partes));
    }

    public static function inteiro(int $valor): string
    {
        return self::valor(0x02, chr($valor));
    }

    public static function nulo(): string
    {
        return self::valor(0x05, '');
    }

    public static function oid(string $pontos): string
    {
        $arcos = array_map('intval', explode('.', $pontos));
        $octetos = '';
        foreach ([$arcos[0] * 40 + $arcos[1], ...array_slice($arcos, 2)] as $arco) {
            $setes = chr($arco & 0x7f);
            while (($arco >>= 7) > 0) {
                $setes = chr(0x80 | ($arco & 0x7f)) . $setes;
            }
            $octetos .= $setes;
        }
        return self::valor(0x06, $octetos);
    }

    /** As they stand in the certificate, octet for octet. */
    public static function emissorENumero(string $certificado): string
    {
        [, $campos] = self::ler(self::ler($certificado, 0)[1], 0);
        $partes = [];
        for ($lugar = 0; $lugar < strlen($campos) && count($partes) < 4; $lugar += strlen(end($partes))) {
            $partes[] = self::ler($campos, $lugar)[0];
        }
        // The version comes first, where it is not the oldest one.
        if ($partes[0][0] === "\xa0") {
            array_shift($partes);
        }
        return self::sequencia($partes[2], $partes[0]);
    }

    /** A whole value, and its content. */
    private static function ler(string $bytes, int $lugar): array
    {
        $tamanho = ord($bytes[$lugar + 1]);
        $comeco = 2;
        if ($tamanho >= 0x80) {
            $octetos = $tamanho & 0x7f;
            $tamanho = (int) hexdec(bin2hex(substr($bytes, $lugar + 2, $octetos)));
            $comeco += $octetos;
        }
        return [substr($bytes, $lugar, $comeco + $tamanho), substr($bytes, $lugar + $comeco, $tamanho)];
    }
}

// A chamada

/** O que voltou. */
final class Resposta
{
    /** @param array<string, string> $cabecalhos */
    public function __construct(
        public readonly int $status,
        private readonly array $cabecalhos,
        public readonly string $corpo,
    ) {
    }

    public function cabecalho(string $nome): ?string
    {
        return $this->cabecalhos[$nome] ?? null;
    }

    /** Quanto a resposta pede que se espere, em segundos. */
    public function espera(): ?float
    {
        $texto = trim($this->cabecalho('retry-after') ?? '');
        if (preg_match('/^\d{1,9}$/D', $texto) === 1) {
            return (float) $texto;
        }
        $quando = preg_match('/^[A-Z][a-z]{2,8},? /', $texto) === 1 ? strtotime($texto) : false;
        return $quando === false ? null : (float) max(0, $quando - time());
    }
}

/** What one try came to, besides an answer. */
final class Falha
{
    public function __construct(
        public readonly string $desfecho,
        public readonly string $motivo,
        public readonly bool $seRepete,
        public readonly ?Resposta $resposta = null,
        public readonly ?array $envelope = null,
    ) {
    }
}

/** Um cliente de um município. */
final class Cliente
{
    private const TAMANHO_MAXIMO = 32 * 1024 * 1024;

    private readonly string $base;
    private readonly ?Certificado $certificado;

    /**
     * Sem $pfx nada é assinado: serve na integração, e para o que já vem assinado.
     *
     * @param string $url Endereço do serviço, sem o município.
     * @param string $municipio integracao, um ambiente só seu (ensaio-xxxxxx), ou o da prefeitura.
     * @param ?string $token Com que se pergunta sem certificado (pedirToken).
     * @param ?string $autoridades Em PEM, as do servidor, no lugar das do sistema.
     * @param int $tentativas Quantas vezes uma chamada pode sair, em $prazo segundos; cada vez espera até $tempoLimite.
     */
    public function __construct(
        string $url,
        private readonly string $municipio,
        ?string $pfx = null,
        #[\SensitiveParameter] string $senha = '',
        private readonly ?string $autoridades = null,
        private readonly int $tentativas = 6,
        private readonly float $prazo = 120,
        private readonly float $tempoLimite = 30,
        private readonly float $primeiraEspera = 1,
        private readonly float $esperaMaxima = 60,
        #[\SensitiveParameter] private readonly ?string $token = null,
    ) {
        if (preg_match('~^https?://[^/?#@\s]+(/[^?#@\s]*)?$~D', $url) !== 1) {
            throw new \InvalidArgumentException('url é um endereço como https://nfse.exemplo.gov.br, sem usuário, senha, ? nem #.');
        }
        $this->base = rtrim($url, '/') . '/' . self::segmento('municipio', $municipio);
        $this->certificado = $pfx === null ? null : new Certificado($pfx, $senha);
    }

    /**
     * Emite a nota de uma DPS: texto XML, texto JSON, ou um array com os nomes do corpo JSON.
     *
     * Insiste até saber se emitiu; uma repetição com a mesma $chave nunca é uma segunda nota. Grave a chave antes de enviar.
     *
     * @param ?string $assinatura De um corpo JSON que já foi assinado.
     * @param ?string $simular Só na integração.
     * @throws Recusado|NaoEntregue|Indeterminado
     */
    public function emitirNota(string|array $dps, ?string $chave = null, ?string $assinatura = null, ?string $simular = null): NotaEmitida
    {
        $corpo = $this->corpo($dps, $assinatura);
        try {
            return NotaEmitida::ler($this->pedir('emitirNota', [], $corpo, $chave, $simular, 'chave_acesso'));
        } catch (Recusado $recusa) {
            $erro = $recusa->envelope?->erros[0] ?? null;
            if ($erro?->codigo !== 'E0014' || $erro->mesmo_conteudo !== true || $erro->chave_acesso === null) {
                throw $recusa;
            }
            // The note that was asked for is there already, from a sending under another key.
            return NotaEmitida::ler([
                'status' => 'OK',
                'numero_protocolo' => $erro->numero_protocolo,
                'chave_acesso' => $erro->chave_acesso,
                'avisos' => [],
                'repetida' => true,
            ]);
        }
    }

    /** Confere sem emitir: os valores com cada passo do cálculo, ou Recusado com todos os erros. */
    public function validarDps(string|array $dps, ?string $assinatura = null): DpsValidada
    {
        return DpsValidada::ler($this->pedir('validarDps', [], $this->corpo($dps, $assinatura)));
    }

    public function consultarNota(string $chave_acesso): NotaConsultada
    {
        return NotaConsultada::ler($this->pedir('consultarNota', ['chave_acesso' => $chave_acesso]));
    }

    public function consultarNotaPorProtocolo(string $numero_protocolo): NotaPorProtocolo
    {
        return NotaPorProtocolo::ler($this->pedir('consultarNotaPorProtocolo', ['numero_protocolo' => $numero_protocolo]));
    }

    /** Pelo identificador da DPS (identificadorDaDps). Em produção, com o certificado de uma parte. */
    public function consultarNotaPorDps(string $identificador): NotaPorDps
    {
        return NotaPorDps::ler($this->pedir('consultarNotaPorDps', ['id' => $identificador]));
    }

    /** Se há nota da DPS; aberta também em produção. */
    public function existeNotaDaDps(string $identificador): bool
    {
        $resposta = $this->responder('existeNotaDaDps', ['id' => $identificador], aceita: [404]);
        if ($resposta->status === 404 && $resposta->cabecalho('x-nfse-ambiente') === null) {
            $texto = 'O endereço não é de nenhum município atendido. Confira url e municipio.';
            throw new NaoEntregue($texto, 'existeNotaDaDps', 1, $resposta, null);
        }
        return $resposta->status === 200;
    }

    /** Consulta até que a nota repouse: nota->status autorizada ou cancelada, ou protocolo->status rejeitado. */
    public function acompanharNota(string $chave_acesso, float $prazo = 300): NotaConsultada
    {
        return $this->acompanhar(
            'consultarNota',
            ['chave_acesso' => $chave_acesso],
            static fn (array $dados): NotaConsultada => NotaConsultada::ler($dados),
            static fn (NotaConsultada $lida): bool => $lida->nota->status !== 'rascunho' || $lida->protocolo->status === 'rejeitado',
            $prazo,
        );
    }

    /** Registra um evento na nota, e insiste como emitirNota. Um array leva sozinho a chave da nota. */
    public function registrarEvento(
        string $chave_acesso,
        string|array $pedido,
        ?string $chave = null,
        ?string $assinatura = null,
        ?string $simular = null,
    ): EventoRegistrado {
        $nomes = ['chave_acesso' => $chave_acesso];
        return $this->registrar('registrarEvento', $nomes, $pedido, $chave, $assinatura, $simular);
    }

    public function registrarEventoPorProtocolo(
        string $numero_protocolo,
        string|array $pedido,
        ?string $chave = null,
        ?string $assinatura = null,
        ?string $simular = null,
    ): EventoRegistrado {
        $nomes = ['numero_protocolo' => $numero_protocolo];
        return $this->registrar('registrarEventoPorProtocolo', $nomes, $pedido, $chave, $assinatura, $simular);
    }

    public function listarEventos(string $chave_acesso): EventosListados
    {
        return EventosListados::ler($this->pedir('listarEventos', ['chave_acesso' => $chave_acesso]));
    }

    public function consultarEvento(Evento|EventoRegistrado $evento): Evento
    {
        return EventoConsultado::ler($this->pedir('consultarEvento', self::nomesDoEvento($evento)))->evento;
    }

    /** Consulta até que esperar não adiante mais; o que foi feito do evento diz status_evento. */
    public function acompanharEvento(Evento|EventoRegistrado $evento, float $prazo = 300): Evento
    {
        return $this->acompanhar(
            'consultarEvento',
            self::nomesDoEvento($evento),
            static fn (array $dados): Evento => EventoConsultado::ler($dados)->evento,
            static fn (Evento $lido): bool => !in_array($lido->acao_sugerida, ['aguardar', 'retentar'], true),
            $prazo,
        );
    }

    /** O PDF de uma nota autorizada. */
    public function baixarDanfse(string $chave_acesso): string
    {
        return $this->responder('baixarDanfse', ['chave_acesso' => $chave_acesso], aceito: 'application/pdf')->corpo;
    }

    /**
     * Pede um token para um CNPJ ou CPF; só esta resposta o mostra. Em produção o pedido vai assinado, e serve uma vez.
     *
     * @param ?list<string> $escopos
     * @param ?string $ambiente O do município (padrão: homologacao em integracao e em ensaio-xxxxxx, producao nos outros).
     */
    public function pedirToken(string $documento, ?array $escopos = null, ?int $validadeDias = null, ?string $ambiente = null): TokenPedido
    {
        $isEnsaio = preg_match('/^(?:integracao|ensaio-[a-z0-9]{6})$/D', $this->municipio) === 1;
        $ambiente ??= $isEnsaio ? 'homologacao' : 'producao';
        $assina = $this->certificado !== null && $ambiente === 'producao';
        $pedido = ['documento' => $documento, 'escopos' => $escopos, 'validade_dias' => $validadeDias];
        if ($assina) {
            $pedido += [
                'acao' => 'criar',
                'municipio' => $this->municipio,
                'ambiente' => $ambiente,
                'emitido_em' => gmdate('Y-m-d\TH:i:s\Z'),
                'pedido' => bin2hex(random_bytes(16)),
            ];
        }
        $bytes = json_encode(array_filter($pedido, static fn ($um): bool => $um !== null), JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR);
        $corpo = [$bytes, 'json', $assina ? assinarCms($bytes, $this->certificado) : null];
        $resposta = $this->responder('pedirToken', [], $corpo, exige: 'token', isJson: true, tentativas: $assina ? 1 : null);
        return TokenPedido::ler(json_decode($resposta->corpo, true));
    }

    /** Uma página das notas do documento do token, ou do certificado. Os filtros são os da página "Listas"; 'cursor' pede a seguinte. */
    public function listarNotas(array $filtros = []): NotasListadas
    {
        $resposta = $this->responder('listarNotas', [], isJson: true, consulta: $filtros);
        return NotasListadas::ler(json_decode($resposta->corpo, true));
    }

    /** O que mudou desde um cursor, ou o que mudar em $espera segundos (até 25). Guarde o cursor depois de tratar as mudanças. */
    public function seguirMudancas(?string $desde = null, int $espera = 0, ?int $limite = null): MudancasSeguidas
    {
        if ($espera < 0 || $espera > 25) {
            throw new \InvalidArgumentException('espera são segundos, de 0 a 25.');
        }
        $consulta = ['desde' => $desde, 'espera' => $espera === 0 ? null : $espera, 'limite' => $limite];
        $resposta = $this->responder('seguirMudancas', [], exige: 'cursor', isJson: true, consulta: $consulta);
        return MudancasSeguidas::ler(json_decode($resposta->corpo, true));
    }

    /** Faz um ambiente só seu; num cliente de integracao. Só esta resposta mostra a chave do dono. Nome, relogio e o rigor vão em $dados. */
    public function criarAmbiente(array $dados = []): AmbienteCriado
    {
        $resposta = $this->responder('criarAmbiente', [], self::corpoSimples($dados), exige: 'chave', isJson: true);
        return AmbienteCriado::ler(json_decode($resposta->corpo, true));
    }

    /** Muda o relógio ('relogio' ou 'avancar'), que só avança, e o rigor. Tokens que vencem até a hora nova deixam de servir. */
    public function alterarAmbiente(#[\SensitiveParameter] string $chave, array $dados): Ambiente
    {
        $resposta = $this->responder('alterarAmbiente', [], self::corpoSimples($dados), isJson: true, token: $chave);
        return AmbienteAlterado::ler(json_decode($resposta->corpo, true))->ambiente;
    }

    /** A DPS de um cenário, em XML, pronta para emitirNota. */
    public function documentoDaPersona(#[\SensitiveParameter] string $chave, string $persona, string $cenario): string
    {
        $nomes = ['persona' => $persona, 'cenario' => $cenario];
        return $this->responder('documentoDaPersona', $nomes, aceito: 'application/xml', token: $chave)->corpo;
    }

    /** @return array{string, string, null} */
    private static function corpoSimples(array $dados): array
    {
        return [json_encode((object) $dados, JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR), 'json', null];
    }

    private function registrar(string $operacao, array $nomes, string|array $pedido, ?string $chave, ?string $assinatura, ?string $simular): EventoRegistrado
    {
        $corpo = $this->corpo(is_array($pedido) ? $pedido + $nomes : $pedido, $assinatura);
        if ($corpo[1] !== 'json') {
            throw new \InvalidArgumentException('Um evento se registra com um corpo JSON.');
        }
        return EventoRegistrado::ler($this->pedir($operacao, $nomes, $corpo, $chave, $simular, 'chave_acesso'));
    }

    /** @return array{string, string, ?string} Os bytes, o que são, e a assinatura de um corpo JSON. */
    private function corpo(string|array $conteudo, ?string $assinatura): array
    {
        $corpo = is_array($conteudo)
            ? json_encode($conteudo, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR)
            : $conteudo;
        // Of an XML in UTF-16 every other octet is zero.
        $inicio = preg_replace('/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)|[\x00\s]/', '', substr($corpo, 0, 256));
        if (in_array(substr($inicio, 0, 1), ['{', '['], true)) {
            return [$corpo, 'json', $assinatura ?? ($this->certificado === null ? null : assinarCms($corpo, $this->certificado))];
        }
        if ($assinatura !== null) {
            throw new \InvalidArgumentException('assinatura é de um corpo JSON; a de um XML vai dentro dele.');
        }
        if ($this->certificado !== null && !estaAssinado(str_replace("\0", '', $corpo))) {
            $corpo = assinarXml($corpo, $this->certificado);
        }
        return [$corpo, 'xml', null];
    }

    private function pedir(string $operacao, array $nomes, ?array $corpo = null, ?string $chave = null, ?string $simular = null, ?string $exige = null): array
    {
        $resposta = $this->responder($operacao, $nomes, $corpo, $chave, $simular, $exige, isJson: true);
        return ['repetida' => $resposta->cabecalho('x-nfse-repetida') === 'true'] + json_decode($resposta->corpo, true);
    }

    /** Calls as often as it takes, with the same bytes under the same key, until one of the three outcomes. */
    private function responder(
        string $operacao,
        array $nomes,
        ?array $corpo = null,
        ?string $chave = null,
        ?string $simular = null,
        ?string $exige = null,
        array $aceita = [],
        string $aceito = 'application/json',
        bool $isJson = false,
        ?int $tentativas = null,
        #[\SensitiveParameter] ?string $token = null,
        array $consulta = [],
    ): Resposta {
        [$metodo, $caminho, $seRepete, $comCertificado, $cabecalhoDaAssinatura] = OPERACOES[$operacao];
        foreach ($nomes as $nome => $valor) {
            $caminho = str_replace('{' . $nome . '}', self::segmento($nome, $valor), $caminho);
        }
        $escolhas = array_filter($consulta, static fn ($um): bool => $um !== null);
        if ($escolhas !== []) {
            $caminho .= '?' . http_build_query($escolhas);
        }
        [$bytes, $tipo, $assinatura] = $corpo ?? [null, null, null];
        $cabecalhos = ["Accept: $aceito", 'Expect:', ...($bytes === null ? [] : ["Content-Type: application/$tipo"])];
        $token = $comCertificado ? $token ?? $this->token : null;
        if ($token !== null) {
            $cabecalhos[] = 'Authorization: Bearer ' . self::semControle($token);
        }
        if ($assinatura !== null) {
            $cabecalhos[] = "$cabecalhoDaAssinatura: " . self::semControle($assinatura);
        }
        if ($simular !== null) {
            $cabecalhos[] = 'X-NFSe-Simular: ' . self::semControle($simular);
        }
        $repeticao = null;
        if ($seRepete) {
            $chave ??= bin2hex(random_bytes(16));
            if (preg_match('/^[!-~](?:[ -~]{0,253}[!-~])?$/D', $chave) !== 1) {
                throw new \InvalidArgumentException('chave tem de 1 a 255 caracteres ASCII, sem espaço no começo nem no fim.');
            }
            $cabecalhos[] = "Idempotency-Key: $chave";
            $repeticao = new Repeticao($chave, (string) $bytes, $assinatura);
        }
        $fim = hrtime(true) / 1e9 + $this->prazo;
        $emDuvida = false;
        for ($vez = 1; ; $vez++) {
            $limite = max(0.001, min($this->tempoLimite, $fim - hrtime(true) / 1e9));
            $lida = $this->enviar($metodo, $this->base . $caminho, $cabecalhos, $bytes, $comCertificado && $token === null, $limite);
            if ($lida instanceof Resposta) {
                $lida = self::lerResposta($lida, $aceita, $isJson, $exige);
            }
            if ($lida instanceof Resposta) {
                return $lida;
            }
            // A reading leaves no doubt behind: it may be put again whatever became of it.
            $emDuvida = $emDuvida || ($lida->desfecho === 'indeterminado' && $repeticao !== null);
            $dobro = min($this->primeiraEspera * 2 ** ($vez - 1), $this->esperaMaxima);
            $espera = $lida->resposta?->espera() ?? $dobro * (0.5 + mt_rand() / mt_getrandmax() / 2);
            $acabou = $vez >= ($tentativas ?? $this->tentativas) || hrtime(true) / 1e9 + $espera >= $fim;
            if (!$lida->seRepete || $acabou) {
                throw self::desfecho($operacao, $vez, $lida, $emDuvida, $repeticao);
            }
            usleep((int) ($espera * 1e6));
        }
    }

    /** One exchange. curl follows nothing; a connection is used once, so that what fails was of this request. */
    private function enviar(string $metodo, string $url, array $cabecalhos, ?string $bytes, bool $comCertificado, float $limite): Resposta|Falha
    {
        $lidos = [];
        $recebido = '';
        $opcoes = [
            CURLOPT_URL => $url,
            CURLOPT_CUSTOMREQUEST => $metodo,
            CURLOPT_NOBODY => $metodo === 'HEAD',
            CURLOPT_HTTPHEADER => $cabecalhos,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ceil($limite * 1000),
            CURLOPT_CONNECTTIMEOUT_MS => (int) ceil($limite * 1000),
            CURLOPT_FORBID_REUSE => true,
            CURLOPT_HEADERFUNCTION => static function ($curl, string $linha) use (&$lidos): int {
                if (str_starts_with($linha, 'HTTP/')) {
                    $lidos = [];
                } elseif (str_contains($linha, ':')) {
                    [$nome, $valor] = explode(':', $linha, 2);
                    $lidos[strtolower($nome)] = trim($valor);
                }
                return strlen($linha);
            },
            CURLOPT_WRITEFUNCTION => static function ($curl, string $pedaco) use (&$recebido): int {
                $recebido .= $pedaco;
                return strlen($recebido) > self::TAMANHO_MAXIMO ? 0 : strlen($pedaco);
            },
        ];
        if ($bytes !== null) {
            $opcoes[CURLOPT_POSTFIELDS] = $bytes;
        }
        if ($this->autoridades !== null) {
            $opcoes[CURLOPT_CAINFO_BLOB] = $this->autoridades;
        }
        if ($comCertificado && $this->certificado !== null && str_starts_with($url, 'https:')) {
            openssl_pkey_export($this->certificado->chave, $chave);
            $opcoes += [CURLOPT_SSLCERT_BLOB => $this->certificado->pem(), CURLOPT_SSLKEY_BLOB => $chave];
        }
        $curl = curl_init();
        curl_setopt_array($curl, $opcoes);
        curl_exec($curl);
        $motivo = curl_error($curl);
        if (curl_errno($curl) === 0) {
            return new Resposta(curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $lidos, $recebido);
        }
        // Before a connection, and its TLS, is there, nothing is sent.
        if (curl_getinfo($curl, CURLINFO_PRETRANSFER_TIME_T) === 0) {
            return new Falha('nao_entregue', "Não houve conexão ($motivo).", true);
        }
        return new Falha('indeterminado', "Não houve resposta ($motivo).", true);
    }

    /** The table of the page "Os desfechos de um envio", row by row. */
    private static function lerResposta(Resposta $resposta, array $aceita, bool $isJson, ?string $exige): Resposta|Falha
    {
        $status = $resposta->status;
        if (in_array($status, $aceita, true)) {
            return $resposta;
        }
        $dados = json_decode($resposta->corpo, true);
        $dados = is_array($dados) ? $dados : null;
        if ($status >= 200 && $status < 300) {
            if (!$isJson || ($dados !== null && ($exige === null || is_string($dados[$exige] ?? null)))) {
                return $resposta;
            }
            return new Falha('indeterminado', "A resposta (HTTP $status) não é inteira, ou não é deste serviço. Confira url.", true, $resposta);
        }
        $isEnvelope = is_string($dados['codigo_erro'] ?? null) && is_string($dados['mensagem'] ?? null) && is_array($dados['erros'] ?? null);
        $envelope = $isEnvelope ? $dados : null;
        $dito = "HTTP $status" . ($isEnvelope ? ", {$dados['codigo_erro']}: {$dados['mensagem']}" : '');
        if ($status >= 500) {
            return new Falha('indeterminado', "O serviço falhou ($dito).", $status !== 501 && $status !== 505, $resposta, $envelope);
        }
        if ($status === 409) {
            return new Falha('indeterminado', "Há outra igual em andamento ($dito).", true, $resposta, $envelope);
        }
        if ($status === 408 || $status === 429) {
            return new Falha('nao_entregue', "O serviço não atendeu ($dito).", true, $resposta, $envelope);
        }
        if (!$isEnvelope || $status === 413) {
            $motivo = $status === 413 ? 'O corpo é grande demais' : 'Respondeu algo que não é deste serviço';
            return new Falha('nao_entregue', "$motivo ($dito). Confira url.", false, $resposta, $envelope);
        }
        return new Falha('recusado', "{$dados['codigo_erro']}: {$dados['mensagem']}", false, $resposta, $envelope);
    }

    /**
     * What a call ends with. A doubt ends by a refusal of the document (400, 422), which under one key is the answer of the first try; what
     * is refused before the key is looked at, as a signature is, says nothing of a try that went before.
     */
    private static function desfecho(string $operacao, int $vez, Falha $falha, bool $emDuvida, ?Repeticao $repeticao): ErroDoEmissor
    {
        $encerra = in_array($falha->resposta?->status, [400, 422], true)
            && preg_match('/^E90[1-6]$/D', $falha->envelope['codigo_erro'] ?? '') !== 1;
        if ($falha->desfecho === 'recusado' && (!$emDuvida || $encerra)) {
            return new Recusado($falha->motivo, $operacao, $vez, $falha->resposta, $falha->envelope);
        }
        if (!$emDuvida || $repeticao === null) {
            return new NaoEntregue($falha->motivo, $operacao, $vez, $falha->resposta, $falha->envelope);
        }
        $texto = "$falha->motivo Não se sabe se $operacao foi feita: repita com a mesma chave, $repeticao->chave.";
        return new Indeterminado($texto, $operacao, $vez, $falha->resposta, $falha->envelope, $repeticao);
    }

    private function acompanhar(string $operacao, array $nomes, \Closure $ler, \Closure $repousa, float $prazo): NotaConsultada|Evento
    {
        $fim = hrtime(true) / 1e9 + $prazo;
        for ($pausa = 0.25; ; ) {
            $acaso = 1 + mt_rand() / mt_getrandmax() / 4;
            usleep((int) (1e6 * max(0, min($pausa * $acaso, $fim - hrtime(true) / 1e9))));
            $pausa = min($pausa * 2, 60);
            try {
                $resposta = $this->responder($operacao, $nomes, isJson: true, tentativas: 1);
                $lida = $ler(json_decode($resposta->corpo, true));
                if ($repousa($lida)) {
                    return $lida;
                }
                $pausa = max($pausa, $resposta->espera() ?? 0);
            } catch (NaoEntregue $erro) {
                // A service that is away for a moment ends nothing; it answers no question before the time that it asks for.
                $pausa = max($pausa, $erro->espera ?? 0);
                if ($erro->espera !== null && hrtime(true) / 1e9 + $erro->espera >= $fim) {
                    throw new AindaEmAndamento("O serviço pede $erro->espera segundos de espera, e o prazo acaba antes.");
                }
            }
            if (hrtime(true) / 1e9 >= $fim) {
                throw new AindaEmAndamento("O prazo de $prazo segundos acabou antes do fim. Consulte mais tarde.");
            }
        }
    }

    private static function nomesDoEvento(Evento|EventoRegistrado $evento): array
    {
        return [
            'chave_acesso' => $evento->chave_acesso,
            'tipo_evento' => $evento->tipo_evento,
            'num_seq_evento' => (string) $evento->numero_sequencial,
        ];
    }

    private static function segmento(string $nome, string $valor): string
    {
        if (in_array($valor, ['', '.', '..'], true)) {
            throw new \InvalidArgumentException("$nome não foi informado.");
        }
        return rawurlencode($valor);
    }

    /** What has line breaks would be more headers than one. */
    private static function semControle(string $valor): string
    {
        if (preg_match('/^[ -~]*$/D', $valor) !== 1) {
            throw new \InvalidArgumentException('Um cabeçalho só leva caracteres ASCII.');
        }
        return $valor;
    }
}

/** O identificador de uma DPS: município emissor (IBGE), CNPJ ou CPF do prestador sem pontuação, série e número. */
function identificadorDaDps(string $municipio, string $documento, string $serie, string|int $numero): string
{
    $tipo = strlen($documento) === 11 ? '1' : '2';
    return "DPS$municipio$tipo" . str_pad($documento, 14, '0', STR_PAD_LEFT) . str_pad($serie, 5, '0', STR_PAD_LEFT)
        . str_pad((string) $numero, 15, '0', STR_PAD_LEFT);
}

// As respostas

/** O que uma resposta tem. O que um serviço mais novo diz a mais não se lê; o que falta é nulo, ou não existe. */
trait Modelo
{
    private function __construct()
    {
    }

    public static function ler(array $dados): self
    {
        $modelo = new self();
        foreach ((new \ReflectionClass(self::class))->getProperties() as $campo) {
            $nome = $campo->getName();
            $valor = $dados[$nome] ?? null;
            $parte = self::PARTES[$nome] ?? null;
            if ($parte !== null && is_array($valor)) {
                $isLista = $campo->getType()?->getName() === 'array';
                $valor = $isLista ? array_map($parte::ler(...), array_values(array_filter($valor, 'is_array'))) : $parte::ler($valor);
            }
            try {
                $modelo->$nome = $valor;
            } catch (\TypeError) {
                if ($campo->getType()?->allowsNull() === true) {
                    $modelo->$nome = null;
                }
            }
        }
        return $modelo;
    }
}

// GERADO da descrição OpenAPI, ao ser entregue pelo serviço; não se edita daqui
