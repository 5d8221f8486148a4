"""The operations by zeep, from the description alone, and their notes by the types that zeep makes of the schemas.

Arguments: the description, and for each namespace of an answer its schema (NAMESPACE=FILE). A JSON array a line in, a JSON value a line out:
["pedir", operation, document] gives the answer, ["ler", document] what its note says.
"""
import json
import sys

import zeep
from lxml import etree

client = zeep.Client(sys.argv[1])
schemas = {}
for argument in sys.argv[2:]:
    namespace, file = argument.split("=", 1)
    schemas[namespace] = zeep.xsd.Schema(node=etree.parse(file).getroot(), transport=zeep.Transport(), location=file)


def pedir(operation, document):
    return client.service[operation](header="", parameters=document)


def ler(document):
    root = etree.fromstring(document.encode())
    name = etree.QName(root)
    schema = schemas[name.namespace]
    answer = schema.get_element("{%s}%s" % (name.namespace, name.localname)).parse(root, schema)
    nota = answer.CompNfse.Nfse.InfNfse
    valores = nota.Servico.Valores
    said = [nota.Numero, nota.CodigoVerificacao, nota.Competencia.isoformat()]
    return " ".join(str(one) for one in said + [valores.ValorServicos, valores.BaseCalculo, valores.ValorIss])


for line in sys.stdin:
    command, *rest = json.loads(line)
    print(json.dumps({"pedir": pedir, "ler": ler}[command](*rest)), flush=True)
