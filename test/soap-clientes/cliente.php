<?php
// Calls the operations of its input, one JSON array a line, from the WSDL alone; writes each answer as JSON.
// ["ler", document, namespace of the answer, namespace of its contents] reads a note by those namespaces alone.
function ler(string $document, string $resposta, string $tipos): string
{
    $read = new DOMDocument();
    $read->loadXML($document);
    $path = new DOMXPath($read);
    $path->registerNamespace('r', $resposta);
    $path->registerNamespace('t', $tipos);
    $nota = '/r:ConsultarNfseRpsResposta/r:CompNfse/t:Nfse/t:InfNfse';
    $said = ['t:Numero', 't:CodigoVerificacao', 't:Competencia'];
    foreach (['ValorServicos', 'BaseCalculo', 'ValorIss'] as $name) {
        $said[] = "t:Servico/t:Valores/t:$name";
    }
    return implode(' ', array_map(fn (string $one) => $path->evaluate("string($nota/$one)"), $said));
}

$client = new SoapClient($argv[1], ['cache_wsdl' => WSDL_CACHE_NONE, 'soap_version' => ($argv[2] ?? '') === '1.2' ? SOAP_1_2 : SOAP_1_1]);
while (($line = fgets(STDIN)) !== false) {
    [$operation, $document, $resposta, $tipos] = json_decode($line, true) + [2 => '', 3 => ''];
    if ($operation === 'ler') {
        echo json_encode(ler($document, $resposta, $tipos)), "\n";
        continue;
    }
    try {
        $answer = $client->__soapCall($operation, [['header' => '<cabecalho versao="1.00"/>', 'parameters' => $document]]);
        echo json_encode($answer->return), "\n";
    } catch (SoapFault $fault) {
        echo json_encode('fault ' . $fault->faultcode . ' ' . $fault->getMessage()), "\n";
    }
}
