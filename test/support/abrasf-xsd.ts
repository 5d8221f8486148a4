/**
 * Schemas of the ABRASF model in its two shapes. Their sources are its manual and the services in use, not our code. A shape has one
 * namespace for everything (ABRASF 1.00), or one for each message and one for the contents (SpeedGov).
 *
 * The notation of a type is its elements in order, as `Nome:tipo`. `?` means optional, `+` one or more, `*` any number; `{…}` is a nested
 * group, `|` separates the halves of a choice, `@Nome` is an attribute. A Signature is the municipality's (`assinatura`), or the sender's,
 * which is optional.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

export const SPEEDGOV = 'http://ws.speedgov.com.br/';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';

const texto = (max: number): string =>
  `<xs:restriction base="xs:string"><xs:minLength value="1"/><xs:maxLength value="${max}"/><xs:whiteSpace value="collapse"/></xs:restriction>`;
const exato = (length: number): string =>
  `<xs:restriction base="xs:string"><xs:length value="${length}"/></xs:restriction>`;
const inteiro = (digits: number, base = 'int'): string =>
  `<xs:restriction base="xs:${base}"><xs:totalDigits value="${digits}"/></xs:restriction>`;
const um = (pattern: string): string =>
  `<xs:restriction base="xs:byte"><xs:pattern value="${pattern}"/></xs:restriction>`;
const decimal = (digits: number, places: number): string =>
  `<xs:restriction base="xs:decimal"><xs:totalDigits value="${digits}"/><xs:fractionDigits value="${places}"/><xs:minInclusive value="0"/></xs:restriction>`;

const TEXTOS = [4, 5, 9, 10, 11, 15, 20, 50, 60, 80, 115, 125, 200, 255, 2000];

const SIMPLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(TEXTOS.map((max) => [`texto${max}`, texto(max)])),
  numero: inteiro(15, 'nonNegativeInteger'),
  ibge: inteiro(7),
  cnae: inteiro(7),
  cep: inteiro(8),
  quantidade: inteiro(4),
  cnpj: exato(14),
  cpf: exato(11),
  uf: exato(2),
  simNao: um('1|2'),
  tipoRps: um('1|2|3'),
  situacao: um('1|2|3|4'),
  seis: um('1|2|3|4|5|6'),
  dinheiro: decimal(15, 2),
  aliquota: decimal(5, 4),
  id: '<xs:restriction base="xs:string"><xs:maxLength value="255"/></xs:restriction>',
  versao: '<xs:restriction base="xs:token"><xs:pattern value="[0-9]{1,2}\\.[0-9]{2}"/></xs:restriction>',
};

const COMECO_DOS_VALORES =
  'ValorServicos:dinheiro ValorDeducoes?:dinheiro ValorPis?:dinheiro ValorCofins?:dinheiro ValorInss?:dinheiro ValorIr?:dinheiro ValorCsll?:dinheiro IssRetido:simNao ValorIss?:dinheiro ValorIssRetido?:dinheiro OutrasRetencoes?:dinheiro BaseCalculo?:dinheiro Aliquota?:aliquota ValorLiquidoNfse?:dinheiro';

/** Types that differ between the two shapes. */
const DIFEREM = {
  abrasf: {
    descontos: 'DescontoIncondicionado?:dinheiro DescontoCondicionado?:dinheiro',
    competencia: 'dateTime',
    tomador: '?',
    versao: ' @versao:versao',
    confirmada: 'assinatura',
  },
  speedgov: {
    descontos: 'DescontoCondicionado?:dinheiro DescontoIncondicionado?:dinheiro',
    competencia: 'date',
    tomador: '',
    versao: '',
    confirmada: 'Signature?',
  },
} as const;

export type Forma = keyof typeof DIFEREM;

function tiposOf({ descontos, competencia, tomador, versao, confirmada }: (typeof DIFEREM)[Forma]) {
  return {
    CpfCnpj: 'Cpf:cpf | Cnpj:cnpj',
    IdentificacaoRps: 'Numero:numero Serie:texto5 Tipo:tipoRps',
    IdentificacaoPrestador: 'Cnpj:cnpj InscricaoMunicipal?:texto15',
    IdentificacaoTomador: 'CpfCnpj?:CpfCnpj InscricaoMunicipal?:texto15',
    IdentificacaoNfse: 'Numero:numero Cnpj:cnpj InscricaoMunicipal?:texto15 CodigoMunicipio:ibge',
    Intermediario: 'RazaoSocial:texto115 CpfCnpj:CpfCnpj InscricaoMunicipal?:texto15',
    Endereco:
      'Endereco?:texto125 Numero?:texto10 Complemento?:texto60 Bairro?:texto60 CodigoMunicipio?:ibge Uf?:uf Cep?:cep',
    Contato: 'Telefone?:texto11 Email?:texto80',
    Prestador:
      'IdentificacaoPrestador:IdentificacaoPrestador RazaoSocial:texto115 NomeFantasia?:texto60 Endereco:Endereco Contato?:Contato',
    Tomador: 'IdentificacaoTomador?:IdentificacaoTomador RazaoSocial?:texto115 Endereco?:Endereco Contato?:Contato',
    OrgaoGerador: 'CodigoMunicipio:ibge Uf:uf',
    ConstrucaoCivil: 'CodigoObra:texto15 Art:texto15',
    Valores: `${COMECO_DOS_VALORES} ${descontos}`,
    Servico:
      'Valores:Valores ItemListaServico:texto5 CodigoCnae?:cnae CodigoTributacaoMunicipio?:texto20 Discriminacao:texto2000 CodigoMunicipio:ibge',
    InfRps: `IdentificacaoRps:IdentificacaoRps DataEmissao:dateTime NaturezaOperacao:seis RegimeEspecialTributacao?:seis OptanteSimplesNacional:simNao IncentivadorCultural:simNao Status:simNao RpsSubstituido?:IdentificacaoRps Servico:Servico Prestador:IdentificacaoPrestador Tomador${tomador}:Tomador IntermediarioServico?:Intermediario ConstrucaoCivil?:ConstrucaoCivil @Id?:id`,
    Rps: 'InfRps:InfRps Signature?',
    LoteRps:
      'NumeroLote:numero Cnpj:cnpj InscricaoMunicipal:texto15 QuantidadeRps:quantidade ListaRps{ Rps+:Rps } @Id?:id',
    InfNfse: `Numero:numero CodigoVerificacao:texto9 DataEmissao:dateTime IdentificacaoRps?:IdentificacaoRps DataEmissaoRps?:date NaturezaOperacao:seis RegimeEspecialTributacao?:seis OptanteSimplesNacional:simNao IncentivadorCultural:simNao Competencia:${competencia} NfseSubstituida?:numero OutrasInformacoes?:texto255 Servico:Servico ValorCredito?:dinheiro PrestadorServico:Prestador TomadorServico${tomador}:Tomador IntermediarioServico?:Intermediario OrgaoGerador:OrgaoGerador ConstrucaoCivil?:ConstrucaoCivil @Id?:id`,
    Nfse: `InfNfse:InfNfse assinatura${versao}`,
    InfPedido: 'IdentificacaoNfse:IdentificacaoNfse CodigoCancelamento:texto4 @Id?:id',
    Pedido: 'InfPedidoCancelamento:InfPedido Signature?',
    InfConfirmacao: 'Sucesso:boolean DataHora:dateTime',
    Confirmacao: 'Pedido:Pedido InfConfirmacaoCancelamento:InfConfirmacao @Id?:id',
    Cancelamento: `Confirmacao:Confirmacao ${confirmada}${versao}`,
    InfSubstituicao: 'NfseSubstituidora:numero @Id?:id',
    Substituicao: `SubstituicaoNfse:InfSubstituicao assinatura${versao}`,
    CompNfse: 'Nfse:Nfse NfseCancelamento?:Cancelamento NfseSubstituicao?:Substituicao',
    Mensagem: 'Codigo:texto4 Mensagem:texto200 Correcao?:texto200',
  };
}

const PEDE = 'Prestador:IdentificacaoPrestador';
const OU = '| lista';

/** The documents by the stem of their namespaces, as SpeedGov names them: the root of the question and of the answer, and what is in each. */
export const DOCUMENTOS = {
  enviar_lote_rps: {
    envio: ['EnviarLoteRpsEnvio', 'LoteRps:LoteRps Signature?'],
    resposta: ['EnviarLoteRpsResposta', `NumeroLote:numero DataRecebimento:dateTime Protocolo:texto50 ${OU}`],
  },
  consultar_situacao_lote_rps: {
    envio: ['ConsultarSituacaoLoteRpsEnvio', `${PEDE} Protocolo:texto50 Signature? @Id?:id`],
    resposta: ['ConsultarSituacaoLoteRpsResposta', `NumeroLote:numero Situacao:situacao ${OU}`],
  },
  consultar_nfse_rps: {
    envio: ['ConsultarNfseRpsEnvio', `IdentificacaoRps:IdentificacaoRps ${PEDE}`],
    resposta: ['ConsultarNfseRpsResposta', `CompNfse:CompNfse ${OU}`],
  },
  consultar_lote_rps: {
    envio: ['ConsultarLoteRpsEnvio', `${PEDE} Protocolo:texto50 Signature? @Id?:id`],
    resposta: ['ConsultarLoteRpsResposta', `ListaNfse{ CompNfse+:CompNfse } ${OU}`],
  },
  consultar_nfse: {
    envio: [
      'ConsultarNfseEnvio',
      `${PEDE} NumeroNfse?:numero PeriodoEmissao?{ DataInicial:date DataFinal:date } Tomador?:IdentificacaoTomador IntermediarioServico?:Intermediario`,
    ],
    resposta: ['ConsultarNfseResposta', `ListaNfse{ CompNfse*:CompNfse } ${OU}`],
  },
  cancelar_nfse: {
    envio: ['CancelarNfseEnvio', 'Pedido:Pedido'],
    resposta: ['CancelarNfseResposta', `Cancelamento:Cancelamento ${OU}`],
  },
} as const;

const DE_XML = new Set(['date', 'dateTime', 'boolean']);
const VEZES: Readonly<Record<string, string>> = {
  '': '',
  '?': ' minOccurs="0"',
  '+': ' maxOccurs="unbounded"',
  '*': ' minOccurs="0" maxOccurs="unbounded"',
};

/** The content of an element that the notation above describes. */
function conteudo(notation: string, assinada: boolean): string {
  const words = notation.split(' ');
  const until = (end: string | undefined): { readonly inside: string; readonly attributes: string } => {
    const halves: string[] = [''];
    let attributes = '';
    for (let word = words.shift(); word !== end && word !== undefined; word = words.shift()) {
      const [, at, name, times = '', rest = ''] = /^(@?)(\w+|\|)([?+*]?)(?::(\w+)|\{)?$/.exec(word)!;
      const type = DE_XML.has(rest) ? `xs:${rest}` : `t:${rest}`;
      if (name === '|') halves.push('');
      else if (at !== '')
        attributes += `<xs:attribute name="${name}" type="${type}"${times === '?' ? '' : ' use="required"'}/>`;
      else halves[halves.length - 1] += particle(name!, VEZES[times]!, word.endsWith('{') ? undefined : type);
    }
    const sequences = halves.map((half) => `<xs:sequence>${half}</xs:sequence>`).join('');
    return { inside: halves.length === 1 ? sequences : `<xs:choice>${sequences}</xs:choice>`, attributes };
  };
  const particle = (name: string, times: string, type: string | undefined): string => {
    if (name === 'lista') return '<xs:element ref="t:ListaMensagemRetorno"/>';
    if (name === 'assinatura') return `<xs:element ref="ds:Signature" minOccurs="${assinada ? 1 : 0}" maxOccurs="2"/>`;
    if (name === 'Signature') return '<xs:element ref="ds:Signature" minOccurs="0"/>';
    if (type !== undefined) return `<xs:element name="${name}" type="${type}"${times}/>`;
    return `<xs:element name="${name}"${times}><xs:complexType>${until('}').inside}</xs:complexType></xs:element>`;
  };
  const { inside, attributes } = until(undefined);
  return inside + attributes;
}

/** A schema with these definitions in a namespace; `t` is the prefix of the namespace of the contents. */
function esquema(
  namespace: string,
  tipos: string,
  inside: string,
  { locais = 'qualified', imports = '' } = {},
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="${tipos}" xmlns:ds="${DSIG}" targetNamespace="${namespace}" elementFormDefault="${locais}">
<xs:import namespace="${DSIG}" schemaLocation="dsig.xsd"/>${imports}
${inside}
</xs:schema>
`;
}

const ASSINATURA = `<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${DSIG}">
<xs:element name="Signature"><xs:complexType><xs:sequence><xs:any processContents="skip" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:anyAttribute processContents="skip"/></xs:complexType></xs:element>
</xs:schema>
`;

/** The place of the schema of a document, by its root. */
export type Esquemas = (root: string) => string;

/** Writes the schemas of a shape into a folder. `assinada`: the municipality must sign, as the published schemas say. */
export function writeEsquemas(folder: string, forma: Forma, namespace: string, assinada = false): Esquemas {
  const tiposNs = forma === 'abrasf' ? namespace : `${SPEEDGOV}tipos_v1.xsd`;
  const simples = Object.entries(SIMPLES).map(
    ([name, inside]) => `<xs:simpleType name="${name}">${inside}</xs:simpleType>`,
  );
  const complexos = Object.entries(tiposOf(DIFEREM[forma])).map(
    ([name, notation]) => `<xs:complexType name="${name}">${conteudo(notation, assinada)}</xs:complexType>`,
  );
  const elemento = (name: string, notation: string): string =>
    `<xs:element name="${name}"><xs:complexType>${conteudo(notation, assinada)}</xs:complexType></xs:element>`;
  const tipos = [...simples, ...complexos, elemento('ListaMensagemRetorno', 'MensagemRetorno+:Mensagem')].join('\n');
  const write = (name: string, text: string): string => {
    const place = path.join(folder, name);
    writeFileSync(place, text);
    return place;
  };
  write('dsig.xsd', ASSINATURA);
  const all = Object.entries(DOCUMENTOS).flatMap(([stem, { envio, resposta }]) => [
    { file: `${stem}_envio_v1.xsd`, root: envio[0], notation: envio[1] },
    { file: `${stem}_resposta_v1.xsd`, root: resposta[0], notation: resposta[1] },
  ]);
  if (forma === 'abrasf') {
    const roots = all.map(({ root, notation }) => elemento(root, notation));
    const only = write('nfse.xsd', esquema(namespace, namespace, [tipos, ...roots].join('\n')));
    return () => only;
  }
  write('tipos_v1.xsd', esquema(tiposNs, tiposNs, tipos));
  const imports = `<xs:import namespace="${tiposNs}" schemaLocation="tipos_v1.xsd"/>`;
  const places = all.map(({ file, root, notation }) => {
    // This message alone has an element without namespace directly below its root.
    const locais = root === 'CancelarNfseEnvio' ? 'unqualified' : 'qualified';
    return [
      root,
      write(file, esquema(SPEEDGOV + file, tiposNs, elemento(root, notation), { locais, imports })),
    ] as const;
  });
  return (root) => new Map(places).get(root as (typeof places)[number][0])!;
}

/** A question in the one namespace of ABRASF 1.00 as SpeedGov's schemas have it. */
export function inSpeedGov(documento: string): string {
  const [, root] = /^<(\w+)/.exec(documento)!;
  const stem = Object.entries(DOCUMENTOS).find(([, { envio }]) => envio[0] === root)![0];
  const direct = root === 'CancelarNfseEnvio' ? '' : 'p:';
  let depth = 0;
  const renamed = documento
    .replace(/ xmlns="[^"]*"/, '')
    .replaceAll(/<(\/?)(\w+)([^>]*?)(\/?)>/g, (_tag, end, name, rest, alone) => {
      if (end !== '') depth -= 1;
      const prefix = depth === 0 ? 'p:' : depth === 1 ? direct : 'p1:';
      if (end === '' && alone === '') depth += 1;
      return `<${end}${prefix}${name}${rest}${alone}>`;
    });
  const declared = ` xmlns:p="${SPEEDGOV}${stem}_envio_v1.xsd" xmlns:p1="${SPEEDGOV}tipos_v1.xsd"`;
  return renamed.replace(`<p:${root}`, `<p:${root}${declared}`);
}
