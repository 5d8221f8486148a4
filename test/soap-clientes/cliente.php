<?php
// Calls the operations that it is told on its input, one JSON array a line, from the description alone; writes each answer as JSON.
$client = new SoapClient($argv[1], ['cache_wsdl' => WSDL_CACHE_NONE, 'soap_version' => ($argv[2] ?? '') === '1.2' ? SOAP_1_2 : SOAP_1_1]);
while (($line = fgets(STDIN)) !== false) {
    [$operation, $document] = json_decode($line, true);
    try {
        $answer = $client->__soapCall($operation, [['header' => '<cabecalho versao="1.00"/>', 'parameters' => $document]]);
        echo json_encode($answer->return), "\n";
    } catch (SoapFault $fault) {
        echo json_encode('fault ' . $fault->faultcode . ' ' . $fault->getMessage()), "\n";
    }
}
