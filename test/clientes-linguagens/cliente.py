"""What an integrator's program does with the Python client: the argument tells which part, the output is a line for each step."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from emissor_nfse import (AindaEmAndamento, Certificado, CertificadoRecusado, Cliente, ErroDoEmissor, Indeterminado, NaoEntregue,  # noqa: E402
                          XmlRecusado, assinar_xml, identificador_da_dps)


def dito(valor):
    return next((texto for um, texto in ((True, 'true'), (False, 'false'), (None, '-')) if valor is um), valor)


def diz(*valores):
    print(' '.join(str(dito(um)) for um in valores), flush=True)


def historia(url, municipio, pfx, senha, ca, xml, json, errada, chave):
    cliente = Cliente(url, municipio, pfx=Path(pfx).read_bytes(), senha=senha, autoridades=Path(ca).read_text())
    de_xml = cliente.emitir_nota(Path(xml).read_bytes(), chave=chave)
    diz('xml', de_xml.chave_acesso, de_xml.repetida, de_xml.xml_nfse.startswith('<'))
    outra = cliente.emitir_nota(Path(xml).read_bytes(), chave=chave)
    diz('repetida', outra.chave_acesso, outra.repetida)
    conhecida = cliente.emitir_nota(Path(xml).read_bytes())
    diz('conhecida', conhecida.chave_acesso, conhecida.repetida, conhecida.xml_nfse)
    de_json = cliente.emitir_nota(Path(json).read_text(encoding='utf-8'))
    diz('json', de_json.chave_acesso, de_json.repetida)
    try:
        cliente.emitir_nota(Path(errada).read_bytes())
    except ErroDoEmissor as erro:
        diz('recusa', type(erro).__name__, erro.codigo_erro, erro.status, erro.campo, len(erro.erros), erro.requisicao is not None,
            erro.mensagem == erro.erros[0].mensagem, erro.detalhes is not None)
    nota = cliente.acompanhar_nota(de_json.chave_acesso).nota
    diz('nota', nota.status, nota.valor_issqn, nota.data_cancelamento)
    diz('protocolo', cliente.consultar_nota_por_protocolo(de_json.numero_protocolo).nota.chave_acesso)
    identificador = identificador_da_dps('3550308', '11222333000181', nota.serie_dps_nacional, nota.numero_dps_nacional)
    diz('dps', cliente.consultar_nota_por_dps(identificador).chave_acesso)
    diz('existe', cliente.existe_nota_da_dps(identificador), cliente.existe_nota_da_dps(identificador_da_dps('3550308', '11222333000181', '9', 9)))
    diz('danfse', cliente.baixar_danfse(de_json.chave_acesso)[:5].decode())
    evento = cliente.registrar_evento(de_json.chave_acesso, {
        'tipo_evento': 'cancelamento', 'codigo_motivo_cancelamento': '1',
        'descricao_motivo_cancelamento': 'Valor do serviço informado com erro'})
    diz('evento', evento.tipo_evento, evento.numero_sequencial, evento.repetida)
    diz('fim', cliente.acompanhar_evento(evento).status_evento)
    eventos = cliente.listar_eventos(de_json.chave_acesso)
    diz('eventos', eventos.total, eventos.eventos[0].tipo_evento)
    diz('situacao', cliente.consultar_nota(de_json.chave_acesso).nota.status)
    validada = cliente.validar_dps(Path(json).read_bytes().replace(b'"numero_dps": "', b'"numero_dps": "9'))
    diz('validada', validada.valores.valor_issqn, validada.calculo[0].campo)


def emitir(url, municipio, pfx, senha, dps, depois=None):
    cliente = Cliente(url, municipio, pfx=Path(pfx).read_bytes(), senha=senha, tentativas=3, primeira_espera=0.01)
    try:
        emitida = cliente.emitir_nota(Path(dps).read_bytes())
        diz('emitida', emitida.chave_acesso, emitida.repetida)
    except ErroDoEmissor as erro:
        diz(type(erro).__name__, erro.tentativas, erro.status, isinstance(erro, Indeterminado))
        if isinstance(erro, Indeterminado) and depois is not None:
            chave, corpo, assinatura = erro.repeticao
            retomada = Cliente(depois, municipio).emitir_nota(corpo, chave=chave, assinatura=assinatura)
            diz('retomada', retomada.chave_acesso, retomada.repetida)


def espera(url, municipio):
    cliente = Cliente(url, municipio)
    for fazer in (lambda: cliente.consultar_nota('1' * 50), lambda: cliente.acompanhar_nota('1' * 50, prazo=3000)):
        try:
            fazer()
        except NaoEntregue as erro:
            diz(type(erro).__name__, erro.tentativas, int(erro.espera))
        except AindaEmAndamento as erro:
            diz(type(erro).__name__)


def token(url, municipio, pfx, senha, ca):
    ca = Path(ca).read_text()
    dado = Cliente(url, municipio, pfx=Path(pfx).read_bytes(), senha=senha, autoridades=ca).pedir_token('11222333000181', ['consultar'], 7)
    leitor = Cliente(url, municipio, token=dado.token, autoridades=ca)
    diz('token', dado.documento, ' '.join(dado.escopos), len(leitor.listar_notas(papel='prestador', limite=1).notas))
    diz('mudancas', len(leitor.seguir_mudancas(limite=2).mudancas))
    try:
        Cliente(url, municipio, autoridades=ca).pedir_token('11222333000181')
    except ErroDoEmissor as erro:
        diz(type(erro).__name__, erro.codigo_erro)


def assinar(pfx, senha, *arquivos):
    try:
        certificado = Certificado(Path(pfx).read_bytes(), senha)
    except CertificadoRecusado:
        return diz('CertificadoRecusado')
    for entrada, saida in zip(arquivos[::2], arquivos[1::2]):
        try:
            Path(saida).write_bytes(assinar_xml(Path(entrada).read_bytes(), certificado))
            diz('assinada')
        except XmlRecusado:
            diz('XmlRecusado')


{'historia': historia, 'emitir': emitir, 'espera': espera, 'token': token, 'assinar': assinar}[sys.argv[1]](*sys.argv[2:])
