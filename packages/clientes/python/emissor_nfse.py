"""
Cliente do Emissor NFS-e, num arquivo só: assina, emite, repete sem emitir duas vezes, acompanha, registra eventos, consulta.

    pip install cryptography

    from emissor_nfse import Cliente, Recusado

    cliente = Cliente('https://nfse.exemplo.gov.br', 'exemplo', pfx=open('certificado.pfx', 'rb').read(), senha='...')
    try:
        emitida = cliente.emitir_nota(open('dps.xml', 'rb').read(), chave='pedido-1234')
        print(emitida.chave_acesso)
    except Recusado as recusa:
        print(recusa.codigo_erro, recusa.campo, recusa.mensagem)

Python 3.8 ou mais novo, a biblioteca padrão e o pacote cryptography (38 ou mais novo). Copie este arquivo para o seu projeto.
Os nomes publicados (chave_acesso, codigo_erro) são os do serviço. Licença: Apache-2.0.
"""
from __future__ import annotations

import base64
import datetime
import email.utils
import hashlib
import http.client
import json
import os
import random
import re
import secrets
import ssl
import tempfile
import time
import urllib.parse
import uuid
import xml.parsers.expat
from dataclasses import dataclass, fields
from typing import Any, Callable, ClassVar, Dict, List, NamedTuple, Optional, Tuple, Union

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import pkcs7, pkcs12

__all__ = [
    'AindaEmAndamento', 'Certificado', 'CertificadoRecusado', 'Cliente', 'ErroDoEmissor', 'Indeterminado', 'NaoEntregue',
    'Recusado', 'Repeticao', 'XmlRecusado', 'assinar_cms', 'assinar_xml', 'identificador_da_dps',
]

# Os erros


class XmlRecusado(ValueError):
    """Um XML que não se assina, e por quê. Nada foi enviado."""


class CertificadoRecusado(ValueError):
    """Um .pfx que não se abre, ou que não assina. Nada foi enviado."""


class Repeticao(NamedTuple):
    """Com que se repete, byte por byte, um envio cujo fim não se conhece. Guarde-a."""

    chave: str
    corpo: bytes
    assinatura: Optional[str]


class ErroDoEmissor(Exception):
    """Uma chamada que não acabou bem. O que vem do envelope de erro é None se o serviço não chegou a responder com ele."""

    def __init__(self, texto: str, operacao: str, tentativas: int, resposta: Optional[_Resposta] = None,
                 envelope: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(texto)
        #: O envelope inteiro.
        self.envelope = EnvelopeDeErro.ler(envelope) if envelope is not None else None
        self.codigo_erro: Optional[str] = self.envelope.codigo_erro if self.envelope else None
        self.mensagem: str = self.envelope.mensagem if self.envelope else texto
        self.detalhes: Any = self.envelope.detalhes if self.envelope else None
        self.campo: Optional[str] = self.envelope.campo if self.envelope else None
        #: Todos os erros da etapa que recusou.
        self.erros: List[Erro] = (self.envelope.erros or []) if self.envelope else []
        #: Status HTTP da última resposta; None se não houve.
        self.status: Optional[int] = resposta.status if resposta else None
        #: X-Request-Id da última resposta, para o suporte.
        self.requisicao: Optional[str] = resposta.cabecalhos.get('x-request-id') if resposta else None
        #: Segundos que a última resposta pede que se espere (Retry-After); None se não pede.
        self.espera: Optional[float] = _retry_after(resposta)
        self.operacao = operacao
        self.tentativas = tentativas


class Recusado(ErroDoEmissor):
    """O serviço leu e recusou: nada foi feito. Corrija pelo que dizem `erros`; repetir sem mudar não adianta."""


class NaoEntregue(ErroDoEmissor):
    """A requisição não foi atendida: nada foi feito. Repita mais tarde, igual."""


class Indeterminado(ErroDoEmissor):
    """A requisição saiu e não se sabe se foi feita. Repita com `repeticao`, e nunca com outro número."""

    repeticao: Repeticao


class AindaEmAndamento(Exception):
    """O prazo do acompanhamento acabou. Nada deu errado: consulte mais tarde, e não envie de novo."""


# O certificado


class Certificado:
    """Um certificado A1 e a chave dele, abertos de um PKCS#12 (.pfx, .p12)."""

    def __init__(self, pfx: bytes, senha: str) -> None:
        try:
            chave, certificado, cadeia = pkcs12.load_key_and_certificates(pfx, senha.encode('utf-8'))
        except (ValueError, UnsupportedAlgorithm) as erro:
            raise CertificadoRecusado(f'O PKCS#12 não se abre: confira o arquivo e a senha ({erro}).') from erro
        if certificado is None or not isinstance(chave, rsa.RSAPrivateKey):
            raise CertificadoRecusado('O PKCS#12 não traz um certificado com a sua chave RSA.')
        self.chave = chave
        self.certificado = certificado
        self.cadeia = list(cadeia)


# A assinatura

_DSIG = 'http://www.w3.org/2000/09/xmldsig#'
_EXC_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#'
_XML = 'http://www.w3.org/XML/1998/namespace'
_FIM_DA_DPS = re.compile(rb'</(?:[\w.-]+:)?DPS[ \t\r\n]*>[ \t\r\n]*\Z')


def esta_assinado(xml_da_dps: bytes) -> bool:
    """Se o XML traz uma assinatura, de quem quer que seja."""
    return re.search(rb'<(?:[\w.-]+:)?Signature[\s>]', xml_da_dps) is not None and _DSIG.encode() in xml_da_dps


def assinar_xml(xml_da_dps: bytes, certificado: Certificado) -> bytes:
    """A DPS com Signature depois de infDPS, e o resto como está. Levanta XmlRecusado para o que não se pode assinar."""
    leitura = _LeitorDaDps(xml_da_dps)
    fim = _FIM_DA_DPS.search(xml_da_dps)
    if fim is None:
        raise XmlRecusado('o documento não acaba em </DPS>.')
    resumo = base64.b64encode(hashlib.sha256(leitura.canonico.encode('utf-8')).digest()).decode()
    # Written in its own canonical form, but for the declaration that stands in Signature.
    informacao = (
        f'<CanonicalizationMethod Algorithm="{_EXC_C14N}"></CanonicalizationMethod>'
        '<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>'
        f'<Reference URI="#{leitura.id}"><Transforms><Transform Algorithm="{_DSIG}enveloped-signature"></Transform>'
        f'<Transform Algorithm="{_EXC_C14N}"></Transform></Transforms>'
        '<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod>'
        f'<DigestValue>{resumo}</DigestValue></Reference>'
    )
    assinado = f'<SignedInfo xmlns="{_DSIG}">{informacao}</SignedInfo>'.encode('utf-8')
    valor = certificado.chave.sign(assinado, padding.PKCS1v15(), hashes.SHA256())
    der = certificado.certificado.public_bytes(serialization.Encoding.DER)
    assinatura = (
        f'<Signature xmlns="{_DSIG}"><SignedInfo>{informacao}</SignedInfo>'
        f'<SignatureValue>{base64.b64encode(valor).decode()}</SignatureValue><KeyInfo><X509Data>'
        f'<X509Certificate>{base64.b64encode(der).decode()}</X509Certificate></X509Data></KeyInfo></Signature>'
    )
    return xml_da_dps[:fim.start()] + assinatura.encode('ascii') + xml_da_dps[fim.start():]


class _LeitorDaDps:
    """
    Reads a DPS and writes the exclusive canonical form (W3C, without comments) of its infDPS. The standard library has C14N 2.0 of whole
    documents alone, so that the form of one element is written here, from what expat reads.
    """

    def __init__(self, xml_da_dps: bytes) -> None:
        self.id = ''
        self._saida: List[str] = []
        # Of each open element: its name, the namespaces in force, and those that the canonical text has declared so far.
        self._abertos: List[Tuple[str, Dict[str, str], Dict[str, str]]] = []
        self._dentro = 0
        self._vistos = 0
        leitor = xml.parsers.expat.ParserCreate()
        leitor.ordered_attributes = True
        leitor.buffer_text = True
        leitor.StartElementHandler = self._abre
        leitor.EndElementHandler = self._fecha
        leitor.CharacterDataHandler = self._texto
        leitor.XmlDeclHandler = self._declaracao
        leitor.CommentHandler = lambda _: self._recusa('há um comentário, que a assinatura não cobre; retire-o')
        leitor.ProcessingInstructionHandler = lambda *_: self._recusa('há uma instrução de processamento; retire-a')
        leitor.StartDoctypeDeclHandler = lambda *_: self._recusa('há um DOCTYPE, que não se aceita em uma DPS')
        try:
            leitor.Parse(xml_da_dps, True)
        except xml.parsers.expat.ExpatError as erro:
            raise XmlRecusado(f'o XML não se lê: {erro}.') from erro
        try:
            xml_da_dps.decode('utf-8')
        except UnicodeDecodeError as erro:
            raise XmlRecusado('o documento não está em UTF-8; converta-o antes de assinar.') from erro
        if self._vistos != 1:
            raise XmlRecusado('o documento não é DPS com um infDPS dentro.')
        self.canonico = ''.join(self._saida)

    @staticmethod
    def _recusa(motivo: str) -> None:
        raise XmlRecusado(f'{motivo}.')

    def _declaracao(self, _versao: str, codificacao: Optional[str], _so: int) -> None:
        if codificacao is not None and codificacao.upper() not in ('UTF-8', 'UTF8'):
            self._recusa(f'o documento diz estar em {codificacao}, e só se assina UTF-8')

    def _abre(self, nome: str, pares: List[str]) -> None:
        _, em_vigor, declarados = self._abertos[-1] if self._abertos else ('', {'xml': _XML}, {})
        em_vigor, atributos = dict(em_vigor), []
        for qual, valor in zip(pares[::2], pares[1::2]):
            if qual == 'xmlns' or qual.startswith('xmlns:'):
                em_vigor[qual[6:]] = valor
            else:
                atributos.append((qual, valor))
        local = nome.rpartition(':')[2]
        if not self._abertos and local != 'DPS':
            self._recusa('o documento não é uma DPS')
        if len(self._abertos) == 1:
            if local != 'infDPS':
                self._recusa('a DPS já está assinada' if local == 'Signature' else 'dentro de DPS só pode vir infDPS')
            self._vistos += 1
            self.id = dict(atributos).get('Id', '')
            if re.fullmatch(r'[A-Za-z0-9_.-]+', self.id) is None:
                self._recusa('falta o Id de infDPS, a que a assinatura se refere')
        if self._abertos:
            declarados = self._escreve_marca(nome, atributos, em_vigor, declarados)
        self._abertos.append((nome, em_vigor, declarados))

    def _escreve_marca(self, nome: str, atributos: List[Tuple[str, str]], em_vigor: Dict[str, str],
                       declarados: Dict[str, str]) -> Dict[str, str]:
        def espaco(qual: str) -> str:
            prefixo = qual.rpartition(':')[0]
            if prefixo not in ('', 'xml') and prefixo not in em_vigor:
                self._recusa(f'o prefixo {prefixo} não foi declarado')
            return em_vigor.get(prefixo, '')

        espaco(nome)
        usados = {nome.rpartition(':')[0]} | {qual.rpartition(':')[0] for qual, _ in atributos if ':' in qual}
        novos = {um: em_vigor.get(um, '') for um in usados
                 if um != 'xml' and em_vigor.get(um, '') != declarados.get(um, '')}
        marca = [nome]
        for prefixo in sorted(novos, key=lambda um: um.encode()):
            marca.append(f'{"xmlns:" if prefixo else "xmlns"}{prefixo}="{_no_atributo(novos[prefixo])}"')
        ordenados = sorted(atributos, key=lambda um: (
            (espaco(um[0]) if ':' in um[0] else '').encode(), um[0].rpartition(':')[2].encode()))
        marca.extend(f'{qual}="{_no_atributo(valor)}"' for qual, valor in ordenados)
        self._saida.append(f'<{" ".join(marca)}>')
        return {**declarados, **novos}

    def _fecha(self, nome: str) -> None:
        self._abertos.pop()
        if self._abertos:
            self._saida.append(f'</{nome}>')

    def _texto(self, texto: str) -> None:
        if len(self._abertos) > 1:
            self._saida.append(texto.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;').replace('\r', '&#xD;'))
        elif texto.strip(' \t\r\n') != '':
            self._recusa('há texto fora de infDPS, que a assinatura não cobre')


def _no_atributo(texto: str) -> str:
    texto = texto.replace('&', '&amp;').replace('<', '&lt;').replace('"', '&quot;')
    return texto.replace('\t', '&#x9;').replace('\n', '&#xA;').replace('\r', '&#xD;')


def assinar_cms(corpo: bytes, certificado: Certificado) -> str:
    """O valor de X-DPS-Assinatura ou X-Evento-Assinatura: CMS destacado sobre estes bytes. Envie exatamente os mesmos."""
    construtor = pkcs7.PKCS7SignatureBuilder().set_data(corpo)
    construtor = construtor.add_signer(certificado.certificado, certificado.chave, hashes.SHA256())
    for um in certificado.cadeia:
        construtor = construtor.add_certificate(um)
    opcoes = [pkcs7.PKCS7Options.DetachedSignature, pkcs7.PKCS7Options.Binary, pkcs7.PKCS7Options.NoCapabilities]
    return base64.b64encode(construtor.sign(serialization.Encoding.DER, opcoes)).decode()


# A chamada

_TAMANHO_MAXIMO = 32 * 1024 * 1024


class _Resposta(NamedTuple):
    status: int
    cabecalhos: Dict[str, str]
    corpo: bytes


class _SemConexao(Exception):
    """Nothing of the request was sent."""


class _Falha(NamedTuple):
    """What one try came to, besides an answer."""

    desfecho: str
    motivo: str
    repetivel: bool
    resposta: Optional[_Resposta] = None
    envelope: Optional[Dict[str, Any]] = None


class Cliente:
    """
    Um cliente de um município: `integracao`, um ambiente só seu (`ensaio-xxxxxx`), ou o da prefeitura. Sem `pfx` nada é assinado: serve
    na integração, e para o que já vem assinado.

    `url`: endereço do serviço, sem o município. `token`: com que se pergunta sem certificado (`pedir_token`). `autoridades`: em PEM, as do servidor, no lugar das do sistema. Uma chamada sai até
    `tentativas` vezes em `prazo` segundos, e cada vez espera até `tempo_limite`.
    """

    def __init__(self, url: str, municipio: str, pfx: Optional[bytes] = None, senha: str = '', *,
                 token: Optional[str] = None, autoridades: Optional[str] = None, tentativas: int = 6, prazo: float = 120, tempo_limite: float = 30,
                 primeira_espera: float = 1, espera_maxima: float = 60) -> None:
        partes = urllib.parse.urlsplit(url)
        if partes.scheme not in ('http', 'https') or not partes.hostname or partes.query or partes.fragment or partes.username:
            raise ValueError('url é um endereço como https://nfse.exemplo.gov.br, sem usuário, senha, ? nem #.')
        self._servidor = partes
        self._base = f'{partes.path.rstrip("/")}/{_segmento("municipio", municipio)}'
        self._municipio = municipio
        self._token = token
        self.certificado = Certificado(pfx, senha) if pfx is not None else None
        self._tentativas, self._prazo, self._tempo_limite = tentativas, prazo, tempo_limite
        self._primeira_espera, self._espera_maxima = primeira_espera, espera_maxima
        self._tls = self._tls_identificado = None
        if partes.scheme == 'https':
            self._tls = ssl.create_default_context(cadata=autoridades)
            self._tls_identificado = ssl.create_default_context(cadata=autoridades)
            if self.certificado is not None:
                _mostrar(self._tls_identificado, self.certificado)

    def emitir_nota(self, dps: Union[bytes, str, Dict[str, Any]], *, chave: Optional[str] = None,
                    assinatura: Optional[str] = None, simular: Optional[str] = None) -> NotaEmitida:
        """
        Emite a nota de uma DPS: XML (bytes ou texto), JSON (bytes ou texto) ou um dicionário com os nomes do corpo JSON.

        Insiste até saber se emitiu; uma repetição com a mesma `chave` nunca é uma segunda nota. Grave a chave antes de enviar.
        `assinatura`: de um corpo JSON que já foi assinado. `simular`: só na integração.
        """
        corpo, tipo, feita = self._corpo(dps, assinatura)
        try:
            return NotaEmitida.ler(self._pedir('emitirNota', corpo=corpo, tipo=tipo, assinatura=feita, chave=chave,
                                               simular=simular, exige='chave_acesso'))
        except Recusado as recusa:
            erro = recusa.erros[0] if recusa.erros else None
            if erro is None or erro.codigo != 'E0014' or not erro.mesmo_conteudo or not erro.chave_acesso:
                raise
            # The note that was asked for is there already, from a sending under another key.
            return NotaEmitida.ler({'status': 'OK', 'numero_protocolo': erro.numero_protocolo,
                                    'chave_acesso': erro.chave_acesso, 'avisos': [], 'repetida': True})

    def validar_dps(self, dps: Union[bytes, str, Dict[str, Any]], *, assinatura: Optional[str] = None) -> DpsValidada:
        """Confere sem emitir: os valores com cada passo do cálculo, ou Recusado com todos os erros."""
        corpo, tipo, feita = self._corpo(dps, assinatura)
        return DpsValidada.ler(self._pedir('validarDps', corpo=corpo, tipo=tipo, assinatura=feita))

    def consultar_nota(self, chave_acesso: str) -> NotaConsultada:
        return NotaConsultada.ler(self._pedir('consultarNota', {'chave_acesso': chave_acesso}))

    def consultar_nota_por_protocolo(self, numero_protocolo: str) -> NotaPorProtocolo:
        return NotaPorProtocolo.ler(self._pedir('consultarNotaPorProtocolo', {'numero_protocolo': numero_protocolo}))

    def consultar_nota_por_dps(self, identificador: str) -> NotaPorDps:
        """Pelo identificador da DPS (`identificador_da_dps`). Em produção, com o certificado de uma parte."""
        return NotaPorDps.ler(self._pedir('consultarNotaPorDps', {'id': identificador}))

    def existe_nota_da_dps(self, identificador: str) -> bool:
        """Se há nota da DPS; aberta também em produção."""
        resposta = self._responder('existeNotaDaDps', {'id': identificador}, aceita=(404,), json_inteiro=False)
        if resposta.status == 404 and 'x-nfse-ambiente' not in resposta.cabecalhos:
            raise NaoEntregue('O endereço não é de nenhum município atendido. Confira url e municipio.', 'existeNotaDaDps', 1, resposta)
        return resposta.status == 200

    def acompanhar_nota(self, chave_acesso: str, *, prazo: float = 300) -> NotaConsultada:
        """Consulta até que a nota repouse: nota.status autorizada ou cancelada, ou protocolo.status rejeitado."""
        return self._acompanhar(
            'consultarNota', {'chave_acesso': chave_acesso}, NotaConsultada.ler,
            lambda lida: lida.nota.status != 'rascunho' or lida.protocolo.status == 'rejeitado', prazo)

    def registrar_evento(self, chave_acesso: str, pedido: Union[bytes, str, Dict[str, Any]], *, chave: Optional[str] = None,
                         assinatura: Optional[str] = None, simular: Optional[str] = None) -> EventoRegistrado:
        """Registra um evento na nota, e insiste como `emitir_nota`. Um dicionário leva sozinho a chave da nota."""
        if isinstance(pedido, dict):
            pedido = {'chave_acesso': chave_acesso, **pedido}
        return self._registrar('registrarEvento', {'chave_acesso': chave_acesso}, pedido, chave, assinatura, simular)

    def registrar_evento_por_protocolo(self, numero_protocolo: str, pedido: Union[bytes, str, Dict[str, Any]], *,
                                       chave: Optional[str] = None, assinatura: Optional[str] = None,
                                       simular: Optional[str] = None) -> EventoRegistrado:
        if isinstance(pedido, dict):
            pedido = {'numero_protocolo': numero_protocolo, **pedido}
        return self._registrar('registrarEventoPorProtocolo', {'numero_protocolo': numero_protocolo}, pedido, chave, assinatura, simular)

    def listar_eventos(self, chave_acesso: str) -> EventosListados:
        return EventosListados.ler(self._pedir('listarEventos', {'chave_acesso': chave_acesso}))

    def consultar_evento(self, evento: Union[Evento, EventoRegistrado]) -> Evento:
        return EventoConsultado.ler(self._pedir('consultarEvento', _nomes_do_evento(evento))).evento

    def acompanhar_evento(self, evento: Union[Evento, EventoRegistrado], *, prazo: float = 300) -> Evento:
        """Consulta até que esperar não adiante mais; o que foi feito do evento diz status_evento."""
        return self._acompanhar(
            'consultarEvento', _nomes_do_evento(evento), lambda dados: EventoConsultado.ler(dados).evento,
            lambda lido: lido.acao_sugerida not in ('aguardar', 'retentar'), prazo)

    def baixar_danfse(self, chave_acesso: str) -> bytes:
        """O PDF de uma nota autorizada."""
        return self._responder('baixarDanfse', {'chave_acesso': chave_acesso}, aceito='application/pdf', json_inteiro=False).corpo

    def pedir_token(self, documento: str, escopos: Optional[List[str]] = None, validade_dias: Optional[int] = None, *,
                    ambiente: Optional[str] = None) -> TokenPedido:
        """
        Pede um token para um CNPJ ou CPF; só esta resposta o mostra. Em produção o pedido vai assinado, e serve uma vez.

        `ambiente`: o do município (padrão: homologacao em integracao e em ensaio-xxxxxx, producao nos outros).
        """
        pedido: Dict[str, Any] = {'documento': documento}
        if escopos is not None:
            pedido['escopos'] = escopos
        if validade_dias is not None:
            pedido['validade_dias'] = validade_dias
        if ambiente is None:
            ambiente = 'homologacao' if re.fullmatch(r'integracao|ensaio-[a-z0-9]{6}', self._municipio) else 'producao'
        assina = self.certificado is not None and ambiente == 'producao'
        if assina:
            pedido.update(acao='criar', municipio=self._municipio, ambiente=ambiente, pedido=str(uuid.uuid4()),
                          emitido_em=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds'))
        corpo = json.dumps(pedido, ensure_ascii=False).encode('utf-8')
        assinatura = assinar_cms(corpo, self.certificado) if assina else None
        return TokenPedido.ler(self._pedir('pedirToken', corpo=corpo, tipo='json', assinatura=assinatura, exige='token',
                                           tentativas=1 if assina else None))

    def listar_notas(self, **filtros: Any) -> NotasListadas:
        """Uma página das notas do documento do token, ou do certificado. Os filtros são os da página "Listas"; `cursor` pede a seguinte."""
        return NotasListadas.ler(self._pedir('listarNotas', consulta=filtros))

    def seguir_mudancas(self, desde: Optional[str] = None, espera: int = 0, limite: Optional[int] = None) -> MudancasSeguidas:
        """O que mudou desde um cursor, ou o que mudar em `espera` segundos (até 25). Guarde `cursor` depois de tratar as mudanças."""
        if not 0 <= espera <= 25:
            raise ValueError('espera são segundos, de 0 a 25.')
        consulta = {'desde': desde, 'espera': espera or None, 'limite': limite}
        return MudancasSeguidas.ler(self._pedir('seguirMudancas', consulta=consulta, exige='cursor'))

    def criar_ambiente(self, **dados: Any) -> AmbienteCriado:
        """Faz um ambiente só seu; num cliente de `integracao`. Só esta resposta mostra a `chave` do dono. `nome`, `relogio` e o rigor."""
        corpo = json.dumps(dados, ensure_ascii=False).encode('utf-8')
        return AmbienteCriado.ler(self._pedir('criarAmbiente', corpo=corpo, tipo='json', exige='chave'))

    def alterar_ambiente(self, chave: str, **dados: Any) -> Ambiente:
        """Muda o relógio (`relogio` ou `avancar`), que só avança, e o rigor. Tokens que vencem até a hora nova deixam de servir."""
        corpo = json.dumps(dados, ensure_ascii=False).encode('utf-8')
        return AmbienteAlterado.ler(self._pedir('alterarAmbiente', corpo=corpo, tipo='json', token=chave)).ambiente

    def documento_da_persona(self, chave: str, persona: str, cenario: str) -> bytes:
        """A DPS de um cenário, em XML, pronta para `emitir_nota`."""
        nomes = {'persona': persona, 'cenario': cenario}
        return self._responder('documentoDaPersona', nomes, token=chave, aceito='application/xml', json_inteiro=False).corpo

    def _registrar(self, operacao: str, nomes: Dict[str, str], pedido: Union[bytes, str, Dict[str, Any]], chave: Optional[str],
                   assinatura: Optional[str], simular: Optional[str]) -> EventoRegistrado:
        corpo, tipo, feita = self._corpo(pedido, assinatura)
        if tipo != 'json':
            raise ValueError('Um evento se registra com um corpo JSON.')
        return EventoRegistrado.ler(self._pedir(operacao, nomes, corpo=corpo, tipo=tipo, assinatura=feita, chave=chave,
                                                simular=simular, exige='chave_acesso'))

    def _corpo(self, conteudo: Union[bytes, str, Dict[str, Any]], assinatura: Optional[str]) -> Tuple[bytes, str, Optional[str]]:
        if isinstance(conteudo, dict):
            conteudo = json.dumps(conteudo, ensure_ascii=False)
        corpo = conteudo.encode('utf-8') if isinstance(conteudo, str) else bytes(conteudo)
        # Of an XML in UTF-16 every other octet is zero.
        inicio = re.sub(rb'^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)|[\x00\s]', b'', corpo[:256])
        if inicio[:1] in (b'{', b'['):
            if assinatura is None and self.certificado is not None:
                assinatura = assinar_cms(corpo, self.certificado)
            return corpo, 'json', assinatura
        if assinatura is not None:
            raise ValueError('assinatura é de um corpo JSON; a de um XML vai dentro dele.')
        if self.certificado is not None and not esta_assinado(corpo.replace(b'\x00', b'')):
            corpo = assinar_xml(corpo, self.certificado)
        return corpo, 'xml', None

    def _pedir(self, operacao: str, nomes: Optional[Dict[str, str]] = None, **pedido: Any) -> Dict[str, Any]:
        resposta = self._responder(operacao, nomes, **pedido)
        dados = json.loads(resposta.corpo)
        return {**dados, 'repetida': resposta.cabecalhos.get('x-nfse-repetida') == 'true'}

    def _responder(self, operacao: str, nomes: Optional[Dict[str, str]] = None, *, corpo: Optional[bytes] = None, tipo: str = '',
                   assinatura: Optional[str] = None, chave: Optional[str] = None, simular: Optional[str] = None,
                   exige: Optional[str] = None, aceita: Tuple[int, ...] = (), aceito: str = 'application/json',
                   json_inteiro: bool = True, tentativas: Optional[int] = None, token: Optional[str] = None,
                   consulta: Optional[Dict[str, Any]] = None) -> _Resposta:
        """Calls as often as it takes, with the same bytes under the same key, until one of the three outcomes."""
        metodo, caminho, se_repete, com_certificado, cabecalho_da_assinatura = OPERACOES[operacao]
        for nome, valor in (nomes or {}).items():
            caminho = caminho.replace('{' + nome + '}', _segmento(nome, valor))
        escolhas = {nome: str(valor) for nome, valor in (consulta or {}).items() if valor is not None}
        if escolhas:
            caminho += '?' + urllib.parse.urlencode(escolhas)
        cabecalhos = {'Accept': aceito, 'Connection': 'close'}
        token = (token or self._token) if com_certificado else None
        if token is not None:
            if re.fullmatch(r'[!-~]+', token) is None:
                raise ValueError('token é o texto que o serviço mostrou, sem espaços.')
            cabecalhos['Authorization'] = f'Bearer {token}'
        repeticao = None
        if corpo is not None:
            cabecalhos['Content-Type'] = f'application/{tipo}'
        if assinatura is not None:
            cabecalhos[cabecalho_da_assinatura] = assinatura
        if simular is not None:
            cabecalhos['X-NFSe-Simular'] = simular
        if se_repete:
            chave = str(uuid.uuid4()) if chave is None else chave
            if re.fullmatch(r'[!-~](?:[ -~]{0,253}[!-~])?', chave) is None:
                raise ValueError('chave tem de 1 a 255 caracteres ASCII, sem espaço no começo nem no fim.')
            cabecalhos['Idempotency-Key'] = chave
            repeticao = Repeticao(chave, corpo or b'', assinatura)
        tls = self._tls_identificado if com_certificado and token is None else self._tls
        fim = time.monotonic() + self._prazo
        em_duvida = False
        vez = 0
        while True:
            vez += 1
            try:
                limite = max(0.001, min(self._tempo_limite, fim - time.monotonic()))
                resposta = self._enviar(metodo, self._base + caminho, cabecalhos, corpo, tls, limite)
                lida = _ler_resposta(resposta, aceita, json_inteiro, exige)
            except _SemConexao as erro:
                lida = _Falha('nao_entregue', f'Não houve conexão ({erro}).', True)
            except (OSError, http.client.HTTPException) as erro:
                lida = _Falha('indeterminado', f'Não houve resposta ({erro or type(erro).__name__}).', True)
            if isinstance(lida, _Resposta):
                return lida
            # A reading leaves no doubt behind: it may be put again whatever became of it.
            em_duvida = em_duvida or (lida.desfecho == 'indeterminado' and repeticao is not None)
            espera = _retry_after(lida.resposta)
            if espera is None:
                espera = min(self._primeira_espera * 2 ** (vez - 1), self._espera_maxima) * random.uniform(0.5, 1)
            acabou = vez >= (tentativas or self._tentativas) or time.monotonic() + espera >= fim
            if not lida.repetivel or acabou:
                raise _desfecho(operacao, vez, lida, em_duvida, repeticao)
            time.sleep(espera)

    def _enviar(self, metodo: str, caminho: str, cabecalhos: Dict[str, str], corpo: Optional[bytes],
                tls: Optional[ssl.SSLContext], limite: float) -> _Resposta:
        """One exchange. http.client follows nothing and repeats nothing by itself."""
        fim = time.monotonic() + limite
        lugar = (self._servidor.hostname, self._servidor.port)
        conexao: http.client.HTTPConnection
        if tls is None:
            conexao = http.client.HTTPConnection(*lugar, timeout=limite)
        else:
            conexao = http.client.HTTPSConnection(*lugar, timeout=limite, context=tls)
        try:
            try:
                conexao.connect()
            except OSError as erro:
                raise _SemConexao(str(erro) or type(erro).__name__) from erro
            conexao.request(metodo, caminho, corpo, cabecalhos)
            resposta = conexao.getresponse()
            recebido = b''
            while True:
                # The limit is for the whole of it, not for each piece.
                if time.monotonic() > fim:
                    raise TimeoutError('o tempo se esgotou')
                pedaco = resposta.read1(65536)
                if not pedaco:
                    break
                recebido += pedaco
                if len(recebido) > _TAMANHO_MAXIMO:
                    raise http.client.HTTPException('a resposta é grande demais')
            if resposta.length:
                raise http.client.IncompleteRead(recebido)
            return _Resposta(resposta.status, {nome.lower(): valor for nome, valor in resposta.getheaders()}, recebido)
        finally:
            conexao.close()

    def _acompanhar(self, operacao: str, nomes: Dict[str, str], ler: Callable[[Dict[str, Any]], Any],
                    repousa: Callable[[Any], bool], prazo: float) -> Any:
        fim = time.monotonic() + prazo
        pausa = 0.25
        while True:
            time.sleep(max(0.0, min(pausa * random.uniform(1, 1.25), fim - time.monotonic())))
            pausa = min(pausa * 2, 60)
            try:
                resposta = self._responder(operacao, nomes, tentativas=1)
                lida = ler(json.loads(resposta.corpo))
                if repousa(lida):
                    return lida
                pausa = max(pausa, _retry_after(resposta) or 0)
            except NaoEntregue as erro:
                # A service that is away for a moment ends nothing; it answers no question before the time that it asks for.
                pausa = max(pausa, erro.espera or 0)
                if erro.espera is not None and time.monotonic() + erro.espera >= fim:
                    raise AindaEmAndamento(f'O serviço pede {erro.espera:.0f} segundos de espera, e o prazo acaba antes.') from erro
            if time.monotonic() >= fim:
                raise AindaEmAndamento(f'O prazo de {prazo} segundos acabou antes do fim. Consulte mais tarde.')


def _ler_resposta(resposta: _Resposta, aceita: Tuple[int, ...], json_inteiro: bool, exige: Optional[str]) -> Union[_Resposta, _Falha]:
    """The table of the page "Os desfechos de um envio", row by row."""
    status = resposta.status
    if status in aceita:
        return resposta
    try:
        dados = json.loads(resposta.corpo)
    except ValueError:
        dados = None
    if 200 <= status < 300:
        if not json_inteiro or (isinstance(dados, dict) and (exige is None or isinstance(dados.get(exige), str))):
            return resposta
        return _Falha('indeterminado', f'A resposta (HTTP {status}) não é inteira, ou não é deste serviço. Confira url.', True, resposta)
    ditos = dados if isinstance(dados, dict) else {}
    textos = all(isinstance(ditos.get(nome), str) for nome in ('codigo_erro', 'mensagem'))
    envelope = ditos if textos and isinstance(ditos.get('erros'), list) else None
    dito = f'HTTP {status}' + (f', {envelope["codigo_erro"]}: {envelope["mensagem"]}' if envelope else '')
    if status >= 500:
        return _Falha('indeterminado', f'O serviço falhou ({dito}).', status not in (501, 505), resposta, envelope)
    if status == 409:
        return _Falha('indeterminado', f'Há outra igual em andamento ({dito}).', True, resposta, envelope)
    if status in (408, 429):
        return _Falha('nao_entregue', f'O serviço não atendeu ({dito}).', True, resposta, envelope)
    if envelope is None or status == 413:
        motivo = 'O corpo é grande demais' if status == 413 else 'Respondeu algo que não é deste serviço'
        return _Falha('nao_entregue', f'{motivo} ({dito}). Confira url.', False, resposta, envelope)
    return _Falha('recusado', f'{envelope["codigo_erro"]}: {envelope["mensagem"]}', False, resposta, envelope)


def _desfecho(operacao: str, vez: int, falha: _Falha, em_duvida: bool, repeticao: Optional[Repeticao]) -> ErroDoEmissor:
    """
    What a call ends with. A doubt ends by a refusal of the document (400, 422), which under one key is the answer of the first try; what
    is refused before the key is looked at, as a signature is, says nothing of a try that went before.
    """
    do_documento = falha.resposta is not None and falha.resposta.status in (400, 422)
    codigo = (falha.envelope or {}).get('codigo_erro', '')
    encerra = do_documento and re.fullmatch(r'E90[1-6]', codigo) is None
    if falha.desfecho == 'recusado' and (not em_duvida or encerra):
        return Recusado(falha.motivo, operacao, vez, falha.resposta, falha.envelope)
    if not em_duvida or repeticao is None:
        return NaoEntregue(falha.motivo, operacao, vez, falha.resposta, falha.envelope)
    texto = f'{falha.motivo} Não se sabe se {operacao} foi feita: repita com a mesma chave, {repeticao.chave}.'
    erro = Indeterminado(texto, operacao, vez, falha.resposta, falha.envelope)
    erro.repeticao = repeticao
    return erro


def _retry_after(resposta: Optional[_Resposta]) -> Optional[float]:
    texto = resposta.cabecalhos.get('retry-after', '').strip() if resposta else ''
    if re.fullmatch(r'[0-9]{1,9}', texto):
        return float(texto)
    try:
        quando = email.utils.parsedate_to_datetime(texto)
    except (TypeError, ValueError):
        return None
    if quando.tzinfo is None:
        quando = quando.replace(tzinfo=datetime.timezone.utc)
    return max(0.0, quando.timestamp() - time.time())


def _segmento(nome: str, valor: str) -> str:
    if not isinstance(valor, str) or valor in ('', '.', '..'):
        raise ValueError(f'{nome} não foi informado.')
    return urllib.parse.quote(valor, safe='')


def _mostrar(tls: ssl.SSLContext, certificado: Certificado) -> None:
    """ssl takes the key of a connection from a file alone: it is there encrypted, for its owner, and for a moment."""
    senha = secrets.token_hex(32)
    cifra = serialization.BestAvailableEncryption(senha.encode())
    pem = certificado.chave.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, cifra)
    for um in [certificado.certificado, *certificado.cadeia]:
        pem += um.public_bytes(serialization.Encoding.PEM)
    arquivo, lugar = tempfile.mkstemp()
    try:
        with os.fdopen(arquivo, 'wb') as saida:
            saida.write(pem)
        tls.load_cert_chain(lugar, password=senha)
    finally:
        os.unlink(lugar)


def _nomes_do_evento(evento: Union[Evento, EventoRegistrado]) -> Dict[str, str]:
    return {'chave_acesso': evento.chave_acesso, 'tipo_evento': evento.tipo_evento, 'num_seq_evento': str(evento.numero_sequencial)}


def identificador_da_dps(municipio: str, documento: str, serie: str, numero: Union[str, int]) -> str:
    """O identificador de uma DPS: município emissor (IBGE), CNPJ ou CPF do prestador sem pontuação, série e número."""
    tipo = '1' if len(documento) == 11 else '2'
    return f'DPS{municipio}{tipo}{documento.zfill(14)}{serie.zfill(5)}{str(numero).zfill(15)}'


# As respostas


class _Modelo:
    """What an answer has. What a newer service says besides is passed over; what is missing is None."""

    _partes: ClassVar[Dict[str, str]] = {}

    @classmethod
    def ler(cls, dados: Dict[str, Any]) -> Any:
        def parte(nome: str, valor: Any) -> Any:
            modelo = globals().get(cls._partes.get(nome, ''))
            if modelo is None:
                return valor
            if isinstance(valor, list):
                return [modelo.ler(um) for um in valor if isinstance(um, dict)]
            return modelo.ler(valor) if isinstance(valor, dict) else None

        return cls(**{campo.name: parte(campo.name, dados.get(campo.name)) for campo in fields(cls)})


# GERADO da descrição OpenAPI, ao ser entregue pelo serviço; não se edita daqui
