<?php
/** An integrator's program with the PHP client: the argument selects the part, and each step prints a line. */
declare(strict_types=1);

require __DIR__ . '/EmissorNfse.php';

use EmissorNfse\{AindaEmAndamento, Certificado, CertificadoRecusado, Cliente, ErroDoEmissor, Indeterminado, NaoEntregue, XmlRecusado};
use function EmissorNfse\{assinarXml, identificadorDaDps};

function diz(mixed ...$valores): void
{
    $dito = fn (mixed $valor): string => is_bool($valor) ? ($valor ? 'true' : 'false') : (string) ($valor ?? '-');
    echo implode(' ', array_map($dito, $valores)), "\n";
}

function historia(string $url, string $municipio, string $pfx, string $senha, string $ca, string $xml, string $json, string $errada, string $chave): void
{
    $cliente = new Cliente($url, $municipio, file_get_contents($pfx), $senha, autoridades: file_get_contents($ca));
    $deXml = $cliente->emitirNota(file_get_contents($xml), chave: $chave);
    diz('xml', $deXml->chave_acesso, $deXml->repetida, str_starts_with($deXml->xml_nfse, '<'));
    $outra = $cliente->emitirNota(file_get_contents($xml), chave: $chave);
    diz('repetida', $outra->chave_acesso, $outra->repetida);
    $conhecida = $cliente->emitirNota(file_get_contents($xml));
    diz('conhecida', $conhecida->chave_acesso, $conhecida->repetida, $conhecida->xml_nfse);
    $deJson = $cliente->emitirNota(file_get_contents($json));
    diz('json', $deJson->chave_acesso, $deJson->repetida);
    try {
        $cliente->emitirNota(file_get_contents($errada));
    } catch (ErroDoEmissor $erro) {
        diz('recusa', (new ReflectionClass($erro))->getShortName(), $erro->codigo_erro, $erro->status, $erro->campo, count($erro->erros),
            $erro->requisicao !== null, $erro->mensagem === $erro->erros[0]->mensagem, $erro->detalhes !== null);
    }
    $nota = $cliente->acompanharNota($deJson->chave_acesso)->nota;
    diz('nota', $nota->status, $nota->valor_issqn, $nota->data_cancelamento);
    diz('protocolo', $cliente->consultarNotaPorProtocolo($deJson->numero_protocolo)->nota->chave_acesso);
    $identificador = identificadorDaDps('3550308', '11222333000181', $nota->serie_dps_nacional, $nota->numero_dps_nacional);
    diz('dps', $cliente->consultarNotaPorDps($identificador)->chave_acesso);
    diz('existe', $cliente->existeNotaDaDps($identificador), $cliente->existeNotaDaDps(identificadorDaDps('3550308', '11222333000181', '9', 9)));
    diz('danfse', substr($cliente->baixarDanfse($deJson->chave_acesso), 0, 5));
    $evento = $cliente->registrarEvento($deJson->chave_acesso, [
        'tipo_evento' => 'cancelamento',
        'codigo_motivo_cancelamento' => '1',
        'descricao_motivo_cancelamento' => 'Valor do serviço informado com erro',
    ]);
    diz('evento', $evento->tipo_evento, $evento->numero_sequencial, $evento->repetida);
    diz('fim', $cliente->acompanharEvento($evento)->status_evento);
    $eventos = $cliente->listarEventos($deJson->chave_acesso);
    diz('eventos', $eventos->total, $eventos->eventos[0]->tipo_evento);
    diz('situacao', $cliente->consultarNota($deJson->chave_acesso)->nota->status);
    $validada = $cliente->validarDps(str_replace('"numero_dps": "', '"numero_dps": "9', file_get_contents($json)));
    diz('validada', $validada->valores->valor_issqn, $validada->calculo[0]->campo);
}

function emitir(string $url, string $municipio, string $pfx, string $senha, string $dps, ?string $depois = null): void
{
    $cliente = new Cliente($url, $municipio, file_get_contents($pfx), $senha, tentativas: 3, primeiraEspera: 0.01);
    try {
        $emitida = $cliente->emitirNota(file_get_contents($dps));
        diz('emitida', $emitida->chave_acesso, $emitida->repetida);
    } catch (ErroDoEmissor $erro) {
        diz((new ReflectionClass($erro))->getShortName(), $erro->tentativas, $erro->status, $erro instanceof Indeterminado);
        if ($erro instanceof Indeterminado && $depois !== null) {
            $repeticao = $erro->repeticao;
            $retomada = (new Cliente($depois, $municipio))->emitirNota($repeticao->corpo, $repeticao->chave, $repeticao->assinatura);
            diz('retomada', $retomada->chave_acesso, $retomada->repetida);
        }
    }
}

function espera(string $url, string $municipio): void
{
    $cliente = new Cliente($url, $municipio);
    $chave = str_repeat('1', 50);
    foreach ([fn () => $cliente->consultarNota($chave), fn () => $cliente->acompanharNota($chave, 3000)] as $fazer) {
        try {
            $fazer();
        } catch (NaoEntregue $erro) {
            diz('NaoEntregue', $erro->tentativas, (int) $erro->espera);
        } catch (AindaEmAndamento) {
            diz('AindaEmAndamento');
        }
    }
}

function token(string $url, string $municipio, string $pfx, string $senha, string $ca): void
{
    $ca = file_get_contents($ca);
    $cliente = new Cliente($url, $municipio, file_get_contents($pfx), $senha, autoridades: $ca);
    $dado = $cliente->pedirToken('11222333000181', ['consultar'], 7);
    $leitor = new Cliente($url, $municipio, autoridades: $ca, token: $dado->token);
    $lista = $leitor->listarNotas(['papel' => 'prestador', 'limite' => 1]);
    diz('token', $dado->documento, implode(' ', $dado->escopos), count($lista->notas));
    diz('mudancas', count($leitor->seguirMudancas(limite: 2)->mudancas));
    try {
        (new Cliente($url, $municipio, autoridades: $ca))->pedirToken('11222333000181');
    } catch (ErroDoEmissor $erro) {
        diz((new ReflectionClass($erro))->getShortName(), $erro->codigo_erro);
    }
}

function assinar(string $pfx, string $senha, string ...$arquivos): void
{
    try {
        $certificado = new Certificado(file_get_contents($pfx), $senha);
    } catch (CertificadoRecusado) {
        diz('CertificadoRecusado');
        return;
    }
    foreach (array_chunk($arquivos, 2) as [$entrada, $saida]) {
        try {
            file_put_contents($saida, assinarXml(file_get_contents($entrada), $certificado));
            diz('assinada');
        } catch (XmlRecusado) {
            diz('XmlRecusado');
        }
    }
}

$argv[1](...array_slice($argv, 2));
