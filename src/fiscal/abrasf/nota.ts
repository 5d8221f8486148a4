/**
 * The one table of how a note is shown in the model: each element of `InfNfse`, in schema order, with its source in the NFS-e. The answers
 * are written from this table, and its page is generated from it.
 */
import { municipioOf, zoneOf } from '../catalogs/catalogs.ts';
import { formatDecimal, parseDecimal, readDecimal, ZERO } from '../decimal.ts';
import { escapeText } from '../layout/escape.ts';
import type { Elemento } from '../layout/tree.ts';
import { readDay } from '../moment.ts';
import { ownOf } from '../own.ts';
import { netOf } from './divergencias.ts';
import { ESCOLHIDO } from './mapa.ts';
import { isSeparado, type Modelo, versaoOf, xmlnsTipos } from './modelo.ts';
import type { Guardado, IdentificacaoRps } from './rps.ts';
import { mapText, REGIMES } from './rps-values.ts';

/** The data for showing a note: its document, and the data beside it. */
export type NotaVista = {
  /** `infNFSe`. */
  readonly infNfse: Elemento;
  readonly chave: string;
  /** The random part of the key, which nobody can guess. */
  readonly codigoVerificacao: string;
  /** Date and time of the municipality without offset, as the model writes them. */
  readonly emissao: string;
  /** The RPS of a note that came in by this port. */
  readonly rps: IdentificacaoRps | undefined;
  /** The elements of its RPS that the NFS-e has no place for. */
  readonly guardado?: Guardado | undefined;
  /** A cancellation that has taken effect, and its request. */
  readonly cancelamento: Cancelamento | undefined;
};

type Cancelamento = {
  readonly em: string;
  /** `CodigoCancelamento`. */
  readonly codigo: string;
  /** Key of the note that took its place. */
  readonly substituta: string | undefined;
};

/** The content of `InfPedidoCancelamento`. */
export type PedidoDeCancelamento = {
  readonly numero: string;
  readonly cnpj: string;
  readonly inscricaoMunicipal: string | undefined;
  readonly codigoMunicipio: string;
  readonly codigo: string;
};

export type LinhaNota = {
  /** Path below `InfNfse`. */
  readonly abrasf: string;
  /** Path below `infNFSe`, or the parts that the value is made of. */
  readonly de: string;
  readonly como?: string;
  readonly valor: (nota: NotaVista, modelo: Modelo) => string | undefined;
  /** A group that both schemas require: it is written even when empty. */
  readonly sempre?: true;
};

const DPS = 'DPS/infDPS';
const TRIB = `${DPS}/valores/trib`;
const V = 'Servico/Valores';
const P = 'PrestadorServico';
const T = 'TomadorServico';
const OBRA = `${DPS}/serv/obra/cObra`;
const ART = `${DPS}/serv/infoCompl/idDocTec`;

export const NOTA: readonly LinhaNota[] = [
  of('Numero', 'nNFSe'),
  computedLine(
    'CodigoVerificacao',
    'chave de acesso',
    'A parte aleatória da chave, 9 dígitos.',
    (n) => n.codigoVerificacao,
  ),
  computedLine('DataEmissao', `${DPS}/dhEmi`, 'Sem o fuso.', (n) => n.emissao),
  computedLine('IdentificacaoRps/Numero', 'RPS', 'Da nota que veio pelo serviço SOAP.', ({ rps }) => rps?.numero),
  computedLine('IdentificacaoRps/Serie', 'RPS', 'Idem.', ({ rps }) => rps?.serie),
  computedLine('IdentificacaoRps/Tipo', 'RPS', 'Idem.', ({ rps }) => rps?.tipo),
  computedLine('DataEmissaoRps', 'RPS', 'Idem: o dia da emissão do RPS no município da nota.', (n) =>
    n.rps === undefined
      ? undefined
      : (readDay(zoneOf(text(n, `${DPS}/cLocEmi`)), n.guardado?.DataEmissao ?? '') ?? text(n, `${DPS}/dCompet`)),
  ),
  computedLine(
    'NaturezaOperacao',
    `${TRIB}/tribMun`,
    '1 quando devido no município emissor, 2 fora; benefício de isenção 3; imune 4; suspensa 5 ou 6.',
    naturezaOf,
  ),
  computedLine(
    'RegimeEspecialTributacao',
    `${DPS}/prest/regTrib`,
    '3 → 1, 2 → 2, 6 → 3, 1 → 4; MEI 5, ME e EPP 6.',
    regimeOf,
  ),
  computedLine('OptanteSimplesNacional', `${DPS}/prest/regTrib/opSimpNac`, '1 → 2 não; 2 e 3 → 1 sim.', (n) =>
    text(n, `${DPS}/prest/regTrib/opSimpNac`) === '1' ? '2' : '1',
  ),
  computedLine(
    'IncentivadorCultural',
    'RPS',
    'Como veio no RPS; de uma nota que veio pela API REST, 2.',
    (n) => n.guardado?.IncentivadorCultural ?? '2',
  ),
  computedLine(
    'Competencia',
    `${DPS}/dCompet`,
    'O dia; no espaço de nomes único da ABRASF 1.00, à meia-noite.',
    (n, modelo) => mapText(text(n, `${DPS}/dCompet`), (day) => (isSeparado(modelo) ? day : `${day}T00:00:00`)),
  ),
  computedLine('NfseSubstituida', `${DPS}/subst/chSubstda`, 'O número, que está na chave.', (n) =>
    mapText(text(n, `${DPS}/subst/chSubstda`), numeroOf),
  ),
  computedLine(
    'OutrasInformacoes',
    'chave de acesso',
    'A chave, por onde a nota se consulta na API REST; o que a integração escolheu para um RPS que não o traz; a obra que não cabe em ConstrucaoCivil.',
    outrasInformacoes,
  ),
  of(`${V}/ValorServicos`, `${DPS}/valores/vServPrest/vServ`),
  computedLine(
    `${V}/ValorDeducoes`,
    `${DPS}/valores/vDedRed/vDR`,
    'Ou a que foi calculada, valores/vCalcDR.',
    (n) => text(n, `${DPS}/valores/vDedRed/vDR`) ?? text(n, 'valores/vCalcDR'),
  ),
  computedLine(`${V}/ValorPis`, 'RPS', 'Como veio no RPS.', (n) => keptAmount(n, 'ValorPis')),
  computedLine(`${V}/ValorCofins`, 'RPS', 'Como veio no RPS.', (n) => keptAmount(n, 'ValorCofins')),
  of(`${V}/ValorInss`, `${TRIB}/tribFed/vRetCP`),
  of(`${V}/ValorIr`, `${TRIB}/tribFed/vRetIRRF`),
  computedLine(
    `${V}/ValorCsll`,
    `${TRIB}/tribFed/vRetCSLL`,
    'Como veio no RPS; de uma nota que veio pela API REST, PIS, COFINS e CSLL retidos, somados como na nota.',
    (n) => (n.guardado === undefined ? text(n, `${TRIB}/tribFed/vRetCSLL`) : keptAmount(n, 'ValorCsll')),
  ),
  computedLine(`${V}/IssRetido`, `${TRIB}/tribMun/tpRetISSQN`, '1 → 2 não; 2 e 3 → 1 sim.', (n) =>
    isWithheld(n) ? '1' : '2',
  ),
  of(`${V}/ValorIss`, 'valores/vISSQN'),
  computedLine(`${V}/ValorIssRetido`, 'valores/vISSQN', 'Quando retido.', (n) =>
    isWithheld(n) ? text(n, 'valores/vISSQN') : undefined,
  ),
  computedLine(`${V}/OutrasRetencoes`, 'RPS', 'Como veio no RPS.', (n) => keptAmount(n, 'OutrasRetencoes')),
  of(`${V}/BaseCalculo`, 'valores/vBC'),
  computedLine(`${V}/Aliquota`, 'valores/pAliqAplic', 'Em fração: 2.00 → 0.02.', (n) =>
    fractionOf(text(n, 'valores/pAliqAplic')),
  ),
  computedLine(`${V}/ValorLiquidoNfse`, 'valores/vLiq', 'Menos OutrasRetencoes, que a NFS-e não desconta.', liquidoOf),
  of(`${V}/DescontoIncondicionado`, `${DPS}/valores/vDescCondIncond/vDescIncond`),
  of(`${V}/DescontoCondicionado`, `${DPS}/valores/vDescCondIncond/vDescCond`),
  computedLine('Servico/ItemListaServico', `${DPS}/serv/cServ/cTribNac`, 'Item e subitem, como 01.01.', (n) => {
    const code = text(n, `${DPS}/serv/cServ/cTribNac`)!;
    return `${code.slice(0, 2)}.${code.slice(2, 4)}`;
  }),
  computedLine('Servico/CodigoCnae', 'RPS', 'Como veio no RPS.', (n) => n.guardado?.['Servico/CodigoCnae']),
  computedLine(
    'Servico/CodigoTributacaoMunicipio',
    `${DPS}/serv/cServ/cTribMun`,
    'Como veio no RPS; senão, o da nota.',
    (n) => n.guardado?.['Servico/CodigoTributacaoMunicipio'] ?? text(n, `${DPS}/serv/cServ/cTribMun`),
  ),
  of('Servico/Discriminacao', `${DPS}/serv/cServ/xDescServ`),
  computedLine(
    'Servico/CodigoMunicipio',
    `${DPS}/serv/locPrest/cLocPrestacao`,
    'No exterior 9999999.',
    (n) => text(n, `${DPS}/serv/locPrest/cLocPrestacao`) ?? '9999999',
  ),
  of(`${P}/IdentificacaoPrestador/Cnpj`, 'emit/CNPJ'),
  of(`${P}/IdentificacaoPrestador/InscricaoMunicipal`, 'emit/IM'),
  computedLine(`${P}/RazaoSocial`, 'emit/xNome', 'Até 115 caracteres.', (n) => cutText(text(n, 'emit/xNome'), 115)),
  computedLine(`${P}/NomeFantasia`, 'emit/xFant', 'Até 60 caracteres.', (n) => cutText(text(n, 'emit/xFant'), 60)),
  ...endereco(`${P}/Endereco`, 'emit/enderNac', 'emit/enderNac'),
  grupo(`${P}/Endereco`),
  computedLine(`${P}/Contato/Telefone`, 'emit/fone', 'Até 11 dígitos.', (n) => cutText(text(n, 'emit/fone'), 11)),
  of(`${P}/Contato/Email`, 'emit/email'),
  of(`${T}/IdentificacaoTomador/CpfCnpj/Cpf`, `${DPS}/toma/CPF`),
  of(`${T}/IdentificacaoTomador/CpfCnpj/Cnpj`, `${DPS}/toma/CNPJ`),
  of(`${T}/IdentificacaoTomador/InscricaoMunicipal`, `${DPS}/toma/IM`),
  computedLine(
    `${T}/RazaoSocial`,
    `${DPS}/toma/xNome`,
    'Até 115 caracteres; de um tomador sem CPF nem CNPJ, o do RPS.',
    (n) => cutText(text(n, `${DPS}/toma/xNome`) ?? n.guardado?.['Tomador/RazaoSocial'], 115),
  ),
  ...endereco(`${T}/Endereco`, `${DPS}/toma/end`, `${DPS}/toma/end/endNac`),
  computedLine(`${T}/Contato/Telefone`, `${DPS}/toma/fone`, 'Até 11 dígitos.', (n) =>
    cutText(text(n, `${DPS}/toma/fone`), 11),
  ),
  of(`${T}/Contato/Email`, `${DPS}/toma/email`),
  grupo(T),
  ...(
    [
      ['RazaoSocial', 'xNome'],
      ['CpfCnpj/Cpf', 'CPF'],
      ['CpfCnpj/Cnpj', 'CNPJ'],
      ['InscricaoMunicipal', 'IM'],
    ] as const
  ).map(([abrasf, name]) =>
    computedLine(
      `IntermediarioServico/${abrasf}`,
      `${DPS}/interm/${name}`,
      'Do intermediário com nome e CPF ou CNPJ, sem os quais o modelo não tem o grupo.',
      (n) => (hasIntermediario(n) ? cutText(text(n, `${DPS}/interm/${name}`), 115) : undefined),
    ),
  ),
  of('OrgaoGerador/CodigoMunicipio', `${DPS}/cLocEmi`),
  computedLine('OrgaoGerador/Uf', `${DPS}/cLocEmi`, 'Do município.', (n) => ufOf(text(n, `${DPS}/cLocEmi`))),
  computedLine('ConstrucaoCivil/CodigoObra', OBRA, 'Com a ART, e até 15 caracteres, como o modelo a exige.', (n) =>
    isObraWhole(n) ? text(n, OBRA) : undefined,
  ),
  computedLine('ConstrucaoCivil/Art', ART, 'Com a obra, e até 15 caracteres.', (n) =>
    isObraWhole(n) ? text(n, ART) : undefined,
  ),
];

const DESCONTOS = [`${V}/DescontoIncondicionado`, `${V}/DescontoCondicionado`];

/** The schemas with a namespace for each message have the two discounts in the opposite order. */
const NOTA_SEPARADA = NOTA.map((linha) => {
  const place = DESCONTOS.indexOf(linha.abrasf);
  return place < 0 ? linha : NOTA.find(({ abrasf }) => abrasf === DESCONTOS[1 - place])!;
});

/** `CompNfse` of a note; its children have the namespace of the contents. */
export function compNfse(nota: NotaVista, modelo: Modelo): string {
  const leaves: [path: string, text: string][] = [];
  for (const { abrasf, valor, sempre } of isSeparado(modelo) ? NOTA_SEPARADA : NOTA) {
    const value = valor(nota, modelo) ?? '';
    const isMissing = sempre === true && !leaves.some(([path]) => path.startsWith(`${abrasf}/`));
    if (value !== '' || isMissing) leaves.push([abrasf, value]);
  }
  const as = xmlnsTipos(modelo) + versaoOf(modelo);
  const inf = `<Nfse${as}><InfNfse Id="NFS${nota.chave}">${nestLeaves(leaves)}</InfNfse></Nfse>`;
  const { chave, cancelamento } = nota;
  if (cancelamento === undefined) return `<CompNfse>${inf}</CompNfse>`;
  const { em, codigo, substituta } = cancelamento;
  const pedido = pedidoXml({
    numero: text(nota, 'nNFSe')!,
    cnpj: text(nota, 'emit/CNPJ') ?? '',
    inscricaoMunicipal: text(nota, 'emit/IM'),
    codigoMunicipio: text(nota, `${DPS}/cLocEmi`)!,
    codigo,
  });
  const cancelled = `<NfseCancelamento${as}>${confirmacao(chave, pedido, em)}</NfseCancelamento>`;
  const replaced =
    substituta === undefined
      ? ''
      : `<NfseSubstituicao${as}><SubstituicaoNfse Id="SUB${chave}">${nestLeaves([['NfseSubstituidora', numeroOf(substituta)]])}</SubstituicaoNfse></NfseSubstituicao>`;
  return `<CompNfse>${inf}${cancelled}${replaced}</CompNfse>`;
}

/** `Cancelamento` of the answer to a request. `pedido`: the request, as an element of the contents. */
export function cancelamentoXml(chave: string, pedido: string, em: string, modelo: Modelo): string {
  const xmlns = xmlnsTipos(modelo);
  return `<Cancelamento${versaoOf(modelo)}>${confirmacao(chave, pedido, em, xmlns)}</Cancelamento>`;
}

function confirmacao(chave: string, pedido: string, em: string, xmlns = ''): string {
  const done = nestLeaves([
    ['InfConfirmacaoCancelamento/Sucesso', 'true'],
    ['InfConfirmacaoCancelamento/DataHora', em],
  ]);
  return `<Confirmacao${xmlns} Id="CAN${chave}">${pedido}${done}</Confirmacao>`;
}

export function pedidoXml({ numero, cnpj, inscricaoMunicipal, codigoMunicipio, codigo }: PedidoDeCancelamento): string {
  const leaves: readonly (readonly [string, string | undefined])[] = [
    ['Numero', numero],
    ['Cnpj', cnpj],
    ['InscricaoMunicipal', inscricaoMunicipal],
    ['CodigoMunicipio', codigoMunicipio],
  ];
  const of = leaves.flatMap(([name, value]) =>
    value === undefined ? [] : [[`Pedido/InfPedidoCancelamento/IdentificacaoNfse/${name}`, value] as const],
  );
  return nestLeaves([...of, ['Pedido/InfPedidoCancelamento/CodigoCancelamento', codigo]]);
}

/** The number of a note, which stands in its key. */
function numeroOf(chave: string): string {
  return chave.slice(23, 36).replace(/^0+(?=.)/, '');
}

/** Elements written one within the other; leaves of one group stand together. */
export function nestLeaves(leaves: readonly (readonly [path: string, text: string])[]): string {
  let xml = '';
  let open: string[] = [];
  const closeTo = (depth: number): void => {
    for (; open.length > depth; open = open.slice(0, -1)) xml += `</${open.at(-1)}>`;
  };
  for (const [path, value] of leaves) {
    const steps = path.split('/');
    const name = steps.pop()!;
    let common = 0;
    while (common < open.length && common < steps.length && open[common] === steps[common]) common += 1;
    closeTo(common);
    for (const step of steps.slice(common)) {
      xml += `<${step}>`;
      open = [...open, step];
    }
    xml += `<${name}>${escapeText(value)}</${name}>`;
  }
  closeTo(0);
  return xml;
}

/** The key, the choices of the sandbox, and the data of a building that do not fit into its group. */
function outrasInformacoes(nota: NotaVista): string {
  const said = [`Chave de acesso da NFS-e: ${nota.chave}`];
  const chosen = ESCOLHIDO.exec(text(nota, `${DPS}/serv/infoCompl/xInfComp`) ?? '')?.[0];
  if (chosen !== undefined) said.push(chosen.slice(0, -1));
  if (!isObraWhole(nota)) {
    const [obra, art] = [text(nota, OBRA), text(nota, ART)];
    if (obra !== undefined) said.push(`Obra: ${obra}`);
    if (art !== undefined) said.push(`ART: ${art}`);
  }
  return cutText(said.join('. '), 255)!;
}

/** The schemas require both numbers of a building, each within this length. */
function isObraWhole(nota: NotaVista): boolean {
  return [OBRA, ART].every((path) => ((length) => length > 0 && length <= 15)(text(nota, path)?.length ?? 0));
}

function hasIntermediario(nota: NotaVista): boolean {
  const has = (name: string): boolean => text(nota, `${DPS}/interm/${name}`) !== undefined;
  return has('xNome') && (has('CPF') || has('CNPJ'));
}

function grupo(abrasf: string): LinhaNota {
  return { abrasf, de: '', como: 'O grupo, ainda que vazio: o modelo o exige.', sempre: true, valor: () => undefined };
}

function of(abrasf: string, de: string): LinhaNota {
  return { abrasf, de, valor: (nota) => text(nota, de) };
}

function computedLine(abrasf: string, de: string, como: string, valor: LinhaNota['valor']): LinhaNota {
  return { abrasf, de, como, valor };
}

function endereco(abrasf: string, de: string, local: string): readonly LinhaNota[] {
  return [
    computedLine(`${abrasf}/Endereco`, `${de}/xLgr`, 'Até 125 caracteres.', (n) => cutText(text(n, `${de}/xLgr`), 125)),
    computedLine(`${abrasf}/Numero`, `${de}/nro`, 'Até 10 caracteres.', (n) => cutText(text(n, `${de}/nro`), 10)),
    computedLine(`${abrasf}/Complemento`, `${de}/xCpl`, 'Até 60 caracteres.', (n) =>
      cutText(text(n, `${de}/xCpl`), 60),
    ),
    of(`${abrasf}/Bairro`, `${de}/xBairro`),
    of(`${abrasf}/CodigoMunicipio`, `${local}/cMun`),
    computedLine(`${abrasf}/Uf`, `${local}/cMun`, 'Do município.', (n) => ufOf(text(n, `${local}/cMun`))),
    of(`${abrasf}/Cep`, `${local}/CEP`),
  ];
}

/** The text at a path below `infNFSe`. */
function text({ infNfse }: NotaVista, path: string): string | undefined {
  let place: Elemento | undefined = infNfse;
  for (const step of stepsOf(path)) {
    place = place.children.find(({ name }) => name === step);
    if (place === undefined) return undefined;
  }
  return place.text;
}

/** The paths of the table, split once, because every note reads each of them. */
const steps = new Map<string, readonly string[]>();

function stepsOf(path: string): readonly string[] {
  return steps.getOrInsertComputed(path, () => path.split('/'));
}

/** An amount as the RPS had it; zero counts as none. */
function keptAmount({ guardado }: NotaVista, name: 'ValorPis' | 'ValorCofins' | 'ValorCsll' | 'OutrasRetencoes') {
  const value = readDecimal(guardado?.[`Servico/Valores/${name}`]?.replace(/^0+(?=\d)/, '') ?? '');
  return value === undefined || value === ZERO ? undefined : formatDecimal(value);
}

function liquidoOf(nota: NotaVista): string | undefined {
  const liquido = mapText(text(nota, 'valores/vLiq'), parseDecimal);
  if (liquido === undefined) return undefined;
  return formatDecimal(netOf(liquido, mapText(keptAmount(nota, 'OutrasRetencoes'), parseDecimal) ?? ZERO));
}

function isWithheld(nota: NotaVista): boolean {
  return text(nota, `${TRIB}/tribMun/tpRetISSQN`) !== '1';
}

function naturezaOf(nota: NotaVista): string {
  const at = (name: string): string | undefined => text(nota, `${TRIB}/tribMun/${name}`);
  const tpSusp = at('exigSusp/tpSusp');
  if (tpSusp !== undefined) return tpSusp === '1' ? '5' : '6';
  if (at('tribISSQN') === '2') return '4';
  if (at('BM/pRedBCBM') === '100.00') return '3';
  const incidence = text(nota, 'cLocIncid');
  return incidence === undefined || incidence === text(nota, `${DPS}/cLocEmi`) ? '1' : '2';
}

function regimeOf(nota: NotaVista): string | undefined {
  const regTrib = (name: string): string | undefined => text(nota, `${DPS}/prest/regTrib/${name}`);
  const special = Object.keys(REGIMES).find((regime) => REGIMES[regime] === regTrib('regEspTrib'));
  return special ?? ownOf({ '2': '5', '3': '6' }, regTrib('opSimpNac'));
}

/** A percentage of two decimals is a fraction of four. */
function fractionOf(percent: string | undefined): string | undefined {
  const value = mapText(percent, parseDecimal);
  if (value === undefined) return undefined;
  const digits = String(value).padStart(5, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/(\.\d\d)0+$/, '$1');
}

function ufOf(codigoIbge: string | undefined): string | undefined {
  return mapText(codigoIbge, municipioOf)?.uf;
}

/** Characters are counted, not bytes, so that none is cut in two. */
function cutText(value: string | undefined, max: number): string | undefined {
  if (value === undefined || value.length <= max) return value;
  const characters = [...value];
  return characters.length <= max ? value : characters.slice(0, max).join('').trimEnd();
}
