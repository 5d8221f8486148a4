<?php
// php danfse.php CHAVE                      (PHP 7.4 ou mais novo, sem extensões)
$chave = $argv[1];
$base = $argv[2] ?? 'http://127.0.0.1:8080/integracao';
$contexto = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 30]]);

for ($tentativa = 1; $tentativa <= 8; $tentativa++) {
    $http_response_header = [];
    $corpo = @file_get_contents("$base/api/v1/danfse/$chave", false, $contexto);
    $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
    if ($status === 200) {
        file_put_contents("$chave.pdf", $corpo);
        exit("Gravado: $chave.pdf\n");
    }
    // Com Retry-After vale a pena perguntar de novo: a nota ainda não foi autorizada, ou o serviço pede um tempo.
    preg_match('/^retry-after: *(\d+)/mi', implode("\n", $http_response_header), $cabecalho);
    $espera = (int) ($cabecalho[1] ?? 0);
    if ($status > 0 && $status < 500 && $espera === 0) {
        foreach (json_decode($corpo, true)['erros'] as $erro) {
            fwrite(STDERR, $erro['codigo'] . ' ' . $erro['mensagem'] . "\n");
        }
        exit(1);
    }
    sleep($espera ?: min(2 ** $tentativa, 60));
}
fwrite(STDERR, "Ainda não há PDF. Tente mais tarde.\n");
exit(1);
