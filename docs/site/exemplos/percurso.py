# python3 percurso.py                        (com emissor_nfse.py e dps.json na mesma pasta)
import sys
from pathlib import Path
from emissor_nfse import Cliente

url = sys.argv[1] if len(sys.argv) > 1 else 'http://127.0.0.1:8080'
dps = Path('dps.json').read_bytes()

# Um ambiente só seu. A chave do dono não se mostra de novo: é com ela que se muda o relógio.
criado = Cliente(url, 'integracao').criar_ambiente(nome='Meu ERP')
municipio = criado.ambiente.municipio
print(f'Ambiente {municipio}, chave {criado.chave}')
cliente = Cliente(url, municipio)

# Quem pergunta mostra um token, aqui o do prestador de dps.json. O cursor diz desde quando se seguem as mudanças.
token = cliente.pedir_token('11222333000181', ['consultar', 'webhooks'], 90).token
leitor = Cliente(url, municipio, token=token)
cursor = leitor.seguir_mudancas('agora').cursor

emitida = cliente.emitir_nota(dps)
nota = cliente.acompanhar_nota(emitida.chave_acesso).nota
print(f'Nota {nota.numero} {nota.status}, ISSQN {nota.valor_issqn}: {nota.chave_acesso}')
Path('nota.pdf').write_bytes(cliente.baixar_danfse(nota.chave_acesso))

evento = cliente.registrar_evento(nota.chave_acesso, {
    'tipo_evento': 'cancelamento',
    'codigo_motivo_cancelamento': '1',
    'descricao_motivo_cancelamento': 'Valor do serviço informado com erro',
})
print('Cancelamento', cliente.acompanhar_evento(evento).status_evento)

cancelada = False
while not cancelada:
    resposta = leitor.seguir_mudancas(cursor, espera=20)
    for mudanca in resposta.mudancas:
        print('Mudança:', mudanca.tipo)
        cancelada = cancelada or mudanca.tipo == 'nota.cancelada'
    cursor = resposta.cursor  # no seu sistema, grave-o com o que tratou

for uma in leitor.listar_notas(papel='prestador').notas:
    print('Na lista:', uma.chave_acesso, uma.status)

# Janeiro do ano que vem, que o relógio do ambiente alcança num instante.
ano = int(criado.ambiente.relogio[:4]) + 1
cliente.alterar_ambiente(criado.chave, relogio=f'{ano}-01-04T09:00:00-03:00')
emitida = cliente.emitir_nota(dps)
print('Em janeiro:', cliente.acompanhar_nota(emitida.chave_acesso).nota.data_emissao)
