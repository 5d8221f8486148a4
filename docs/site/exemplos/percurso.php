<?php
// php percurso.php                           (com EmissorNfse.php e dps.json na mesma pasta)
require 'EmissorNfse.php';

use EmissorNfse\Cliente;

$url = $argv[1] ?? 'http://127.0.0.1:8080';
$dps = file_get_contents('dps.json');

// Um ambiente só seu. A chave do dono não se mostra de novo: é com ela que se muda o relógio.
$criado = (new Cliente($url, 'integracao'))->criarAmbiente(['nome' => 'Meu ERP']);
$municipio = $criado->ambiente->municipio;
echo "Ambiente $municipio, chave $criado->chave\n";
$cliente = new Cliente($url, $municipio);

// Quem pergunta mostra um token, aqui o do prestador de dps.json. O cursor diz desde quando se seguem as mudanças.
$token = $cliente->pedirToken('11222333000181', ['consultar', 'webhooks'], 90)->token;
$leitor = new Cliente($url, $municipio, token: $token);
$cursor = $leitor->seguirMudancas('agora')->cursor;

$emitida = $cliente->emitirNota($dps);
$nota = $cliente->acompanharNota($emitida->chave_acesso)->nota;
echo "Nota $nota->numero $nota->status, ISSQN $nota->valor_issqn: $nota->chave_acesso\n";
file_put_contents('nota.pdf', $cliente->baixarDanfse($nota->chave_acesso));

$evento = $cliente->registrarEvento($nota->chave_acesso, [
    'tipo_evento' => 'cancelamento',
    'codigo_motivo_cancelamento' => '1',
    'descricao_motivo_cancelamento' => 'Valor do serviço informado com erro',
]);
echo 'Cancelamento ', $cliente->acompanharEvento($evento)->status_evento, "\n";

for ($cancelada = false; !$cancelada; ) {
    $resposta = $leitor->seguirMudancas($cursor, espera: 20);
    foreach ($resposta->mudancas as $mudanca) {
        echo "Mudança: $mudanca->tipo\n";
        $cancelada = $cancelada || $mudanca->tipo === 'nota.cancelada';
    }
    $cursor = $resposta->cursor; // no seu sistema, grave-o com o que tratou
}

foreach ($leitor->listarNotas(['papel' => 'prestador'])->notas as $uma) {
    echo "Na lista: $uma->chave_acesso $uma->status\n";
}

// Janeiro do ano que vem, que o relógio do ambiente alcança num instante.
$ano = (int) substr($criado->ambiente->relogio, 0, 4) + 1;
$cliente->alterarAmbiente($criado->chave, ['relogio' => "$ano-01-04T09:00:00-03:00"]);
$emitida = $cliente->emitirNota($dps);
echo 'Em janeiro: ', $cliente->acompanharNota($emitida->chave_acesso)->nota->data_emissao, "\n";
