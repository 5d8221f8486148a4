# python3 danfse.py CHAVE                    (Python 3.8 ou mais novo, sem dependências)
import json, sys, time
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

chave = sys.argv[1]
base = sys.argv[2] if len(sys.argv) > 2 else 'http://127.0.0.1:8080/integracao'

for tentativa in range(1, 9):
    espera = 0
    try:
        with urlopen(f'{base}/api/v1/danfse/{chave}', timeout=30) as resposta:
            with open(f'{chave}.pdf', 'wb') as pdf:
                pdf.write(resposta.read())
        print(f'Gravado: {chave}.pdf')
        sys.exit()
    except HTTPError as recusa:
        # Com Retry-After vale a pena perguntar de novo: a nota ainda não foi autorizada, ou o serviço pede um tempo.
        espera = float(recusa.headers.get('Retry-After') or 0)
        if recusa.code < 500 and espera == 0:
            for erro in json.load(recusa)['erros']:
                print(erro['codigo'], erro['mensagem'], file=sys.stderr)
            sys.exit(1)
    except (URLError, OSError):
        pass
    time.sleep(espera or min(2 ** tentativa, 60))
sys.exit('Ainda não há PDF. Tente mais tarde.')
