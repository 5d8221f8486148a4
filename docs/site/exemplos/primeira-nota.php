<?php
// php primeira-nota.php dps.json             (PHP 7.4 ou mais novo, sem extensões)
$base = $argv[2] ?? 'http://127.0.0.1:8080/integracao';
$corpo = file_get_contents($argv[1] ?? 'dps.json'); // os bytes, como estão: é sobre eles que se assina

/** [status, Retry-After, dados]; status 0 quando não houve resposta. */
function pedir(string $url, array $opcoes = []): array
{
    $contexto = stream_context_create(['http' => $opcoes + ['ignore_errors' => true, 'timeout' => 30]]);
    $texto = @file_get_contents($url, false, $contexto);
    if ($texto === false) {
        return [0, 0, null];
    }
    [, $status] = explode(' ', $http_response_header[0]);
    preg_match('/^retry-after: *(\d+)/mi', implode("\n", $http_response_header), $espera);
    return [(int) $status, (int) ($espera[1] ?? 0), json_decode($texto, true)];
}

// Uma chave por nota, gerada antes do primeiro envio e repetida em cada repetição dele.
$chaveDoEnvio = bin2hex(random_bytes(16));
for ($tentativa = 1; ; $tentativa++) {
    [$status, $espera, $dados] = pedir("$base/api/v1/nfse/v101", [
        'method' => 'POST',
        'header' => ['Content-Type: application/json', "Idempotency-Key: $chaveDoEnvio"],
        'content' => $corpo,
    ]);
    if ($status > 0 && $status < 500 && $status !== 408 && $status !== 409 && $status !== 429) {
        break;
    }
    if ($tentativa === 8) {
        exit("O serviço não respondeu. Guarde a chave do envio e repita mais tarde, com o mesmo corpo.\n");
    }
    sleep($espera ?: min(2 ** $tentativa, 60));
}

if ($status !== 201) {
    foreach ($dados['erros'] as $erro) {
        fwrite(STDERR, $erro['codigo'] . ' ' . ($erro['campo'] ?? $erro['xpath']) . ': ' . $erro['mensagem'] . "\n");
    }
    exit(1);
}
$chave = $dados['chave_acesso'];
echo "Emitida: $chave\n";

for ($pausa = 1; ; $pausa = min($pausa * 2, 60)) {
    [$status, $espera, $dados] = pedir("$base/api/v1/nfse/$chave");
    if (($dados['protocolo']['status'] ?? '') === 'rejeitado') {
        exit('O ADN recusou: ' . $dados['protocolo']['mensagem_retorno'] . "\n");
    }
    if (($dados['nota']['status'] ?? '') === 'autorizada') {
        file_put_contents("$chave.xml", $dados['nota']['xml_nota']);
        echo "Autorizada, ISSQN {$dados['nota']['valor_issqn']}: $chave.xml\n";
        break;
    }
    sleep(max($espera, $pausa));
}
