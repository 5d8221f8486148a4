# python3 primeira_nota.py dps.json          (Python 3.8 ou mais novo, sem dependências)
import json, sys, time, uuid
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

arquivo = sys.argv[1] if len(sys.argv) > 1 else 'dps.json'
base = sys.argv[2] if len(sys.argv) > 2 else 'http://127.0.0.1:8080/integracao'
corpo = open(arquivo, 'rb').read()  # os bytes, como estão: é sobre eles que se assina


def pedir(caminho, corpo=None, cabecalhos={}):
    """(status, cabeçalhos, dados); status 0 quando não houve resposta."""
    try:
        with urlopen(Request(base + caminho, corpo, cabecalhos), timeout=30) as r:
            return r.status, r.headers, json.load(r)
    except HTTPError as r:
        return r.code, r.headers, json.load(r)
    except (URLError, OSError, ValueError):
        return 0, {}, None


# Uma chave por nota, gerada antes do primeiro envio e repetida em cada repetição dele.
cabecalhos = {'Content-Type': 'application/json', 'Idempotency-Key': str(uuid.uuid4())}
for tentativa in range(1, 9):
    status, resposta, dados = pedir('/api/v1/nfse/v101', corpo, cabecalhos)
    if status not in (0, 408, 409, 429) and status < 500:
        break
    time.sleep(float(resposta.get('Retry-After') or min(2 ** tentativa, 60)))
else:
    sys.exit('O serviço não respondeu. Guarde a chave do envio e repita mais tarde, com o mesmo corpo.')

if status != 201:
    for erro in dados['erros']:
        print(erro['codigo'], erro.get('campo') or erro['xpath'], erro['mensagem'], file=sys.stderr)
    sys.exit(1)
chave = dados['chave_acesso']
print('Emitida:', chave)

pausa = 1
while True:
    status, resposta, dados = pedir(f'/api/v1/nfse/{chave}')
    if status == 200 and (dados['protocolo'] or {}).get('status') == 'rejeitado':
        sys.exit('O ADN recusou: ' + dados['protocolo']['mensagem_retorno'])
    if status == 200 and dados['nota']['status'] == 'autorizada':
        with open(f'{chave}.xml', 'w', encoding='utf-8', newline='') as xml:
            xml.write(dados['nota']['xml_nota'])
        print(f"Autorizada, ISSQN {dados['nota']['valor_issqn']}: {chave}.xml")
        break
    time.sleep(max(float(resposta.get('Retry-After') or 1), pausa))
    pausa = min(pausa * 2, 60)
