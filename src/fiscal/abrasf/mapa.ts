import { INICIO_IBSCBS } from '../cronograma.ts';
import { add, formatDecimal, ZERO } from '../decimal.ts';
import { DPS_NAMESPACE, DPS_VERSAO, INF_DPS } from '../layout/dps.ts';
import { escapeText } from '../layout/escape.ts';
import { elementsOf, type Group, type Item, type Leaf } from '../layout/vocabulary.ts';
import { DECLARADOS } from './divergencias.ts';
import { bare, type Rps } from './rps.ts';
import {
  aliquotaOf,
  amount,
  CONTRIBUTIONS,
  type Contexto,
  cLocEmiOf,
  competenciaOf,
  cTribNacOf,
  documentOrNone,
  ENDERECO,
  hasContributions,
  hasTaker,
  hasTotals,
  isExempt,
  isRetained,
  isSuspended,
  mapText,
  money,
  ofAddress,
  ofTaker,
  opSimpNacOf,
  regEspTribOf,
  retentionKind,
  roundedPercent,
  TOMADOR,
  V,
} from './rps-values.ts';

export type Linha = {
  /** Path below `infDPS`. */
  readonly dps: string;
  /** Paths below `InfRps`, the decisive one first. */
  readonly rps: readonly string[];
  /** The conversion in a sentence, for the page. */
  readonly como: string;
  readonly valor: (rps: Rps, contexto: Contexto) => string | undefined;
  /** Codes of the model for a DPS in which this element is missing, and in which it is wrong. */
  readonly falta?: string | undefined;
  readonly errado?: string | undefined;
};

const INTERM = 'IntermediarioServico';
const SO_CIDADE = 'Igual; do tomador com CPF de quem só vem a cidade o endereço fica fora.';

/** Version of the sending program, in the DPS. */
const VER_APLIC = 'abrasf-1.00';

/** The only mapping of an RPS to a DPS; the published page is made from it (D-160). */
export const MAPA: readonly Linha[] = [
  fixo('tpAmb', 'O ambiente do município.', (_rps, { tpAmb }) => tpAmb),
  fixo('verAplic', `Sempre ${VER_APLIC}.`, () => VER_APLIC),
  {
    ...igual('serie', 'IdentificacaoRps/Serie', 'E150', 'E93'),
    como: 'A série, sem zeros à esquerda.',
    valor: (rps) => mapText(rps.get('IdentificacaoRps/Serie'), bare),
  },
  {
    ...igual('nDPS', 'IdentificacaoRps/Numero', 'E11', 'E90'),
    como: 'O número, sem zeros à esquerda. O tipo do RPS não entra na DPS: um número de uma série se usa uma vez.',
    valor: (rps) => mapText(rps.get('IdentificacaoRps/Numero'), bare),
  },
  {
    dps: 'dCompet',
    rps: ['DataCompetencia', 'DataEmissao'],
    como: 'O dia da emissão do RPS; DataCompetencia, onde vier, vale em lugar dele. Uma data e hora com fuso é um instante: vale o dia dele no município da nota.',
    valor: competenciaOf,
    falta: 'E14',
    errado: 'E15',
  },
  fixo('tpEmit', 'Sempre 1: quem emite é o prestador.', () => '1'),
  {
    ...fixo(
      'cLocEmi',
      'O município deste endereço; no ambiente de integração, que é de todos, o da última nota do prestador, e, se não há nenhuma, o da prestação.',
      cLocEmiOf,
    ),
    errado: 'E42',
  },
  {
    dps: 'subst/chSubstda',
    rps: ['RpsSubstituido/Numero', 'RpsSubstituido/Serie', 'RpsSubstituido/Tipo'],
    como: 'A chave da nota do RPS substituído.',
    valor: (_rps, { chSubstda }) => chSubstda,
    errado: 'E76',
  },
  {
    dps: 'subst/cMotivo',
    rps: ['RpsSubstituido/Numero'],
    como: '99, com o RPS substituído em xMotivo: o modelo não diz o motivo.',
    valor: (_rps, { chSubstda }) => mapText(chSubstda, () => '99'),
  },
  {
    dps: 'subst/xMotivo',
    rps: ['RpsSubstituido/Numero'],
    como: 'Substituição do RPS de tal série e número.',
    valor: (rps, { chSubstda }) =>
      mapText(chSubstda, () => {
        const [serie, numero] = ['Serie', 'Numero'].map((name) => rps.get(`RpsSubstituido/${name}`) ?? '');
        return `Substituição da nota do RPS ${numero} da série ${serie}`;
      }),
  },
  igual('prest/CNPJ', 'Prestador/Cnpj', 'E46', 'E44'),
  {
    ...igual('prest/IM', 'Prestador/InscricaoMunicipal', 'E141', 'E50'),
    como: 'Igual; sem ela, a do lote, quando é a de um cadastro do prestador.',
    valor: (rps, { inscricaoMunicipal }) => rps.get('Prestador/InscricaoMunicipal') ?? inscricaoMunicipal,
  },
  {
    dps: 'prest/regTrib/opSimpNac',
    rps: ['OptanteSimplesNacional', 'RegimeEspecialTributacao'],
    como: '2 não → 1; 1 sim → 3 (ME ou EPP), ou 2 (MEI) com regime especial 5.',
    valor: opSimpNacOf,
    falta: 'E8',
    errado: 'E146',
  },
  {
    dps: 'prest/regTrib/regApTribSN',
    rps: ['OptanteSimplesNacional'],
    como: '1 (tudo pelo Simples Nacional) para a ME e a EPP: o RPS não diz outra coisa.',
    valor: (rps) => (opSimpNacOf(rps) === '3' ? '1' : undefined),
  },
  {
    dps: 'prest/regTrib/regEspTrib',
    rps: ['RegimeEspecialTributacao'],
    como: '1 → 3 microempresa municipal, 2 → 2 estimativa, 3 → 6 sociedade de profissionais, 4 → 1 cooperativa; sem ele, 5 e 6 → 0.',
    valor: regEspTribOf,
    errado: 'E145',
  },
  {
    ...igual('toma/CNPJ', `${TOMADOR}/CpfCnpj/Cnpj`, undefined, 'E47'),
    como: 'Igual; zeros são o mesmo que nada, e sem CPF nem CNPJ a DPS não tem tomador.',
    valor: (rps) => documentOrNone(rps.get(`${TOMADOR}/CpfCnpj/Cnpj`)),
  },
  {
    ...igual('toma/CPF', `${TOMADOR}/CpfCnpj/Cpf`, undefined, 'E47'),
    como: 'Igual; zeros são o mesmo que nada.',
    valor: (rps) => documentOrNone(rps.get(`${TOMADOR}/CpfCnpj/Cpf`)),
  },
  {
    ...igual('toma/IM', `${TOMADOR}/InscricaoMunicipal`, 'E51', 'E51'),
    valor: ofTaker(`${TOMADOR}/InscricaoMunicipal`),
  },
  { ...igual('toma/xNome', 'Tomador/RazaoSocial', 'E118', 'E117'), valor: ofTaker('Tomador/RazaoSocial') },
  {
    ...igual('toma/end/endNac/cMun', `${ENDERECO}/CodigoMunicipio`, 'E59', 'E60'),
    como: SO_CIDADE,
    valor: ofAddress('CodigoMunicipio'),
  },
  {
    ...igual('toma/end/endNac/CEP', `${ENDERECO}/Cep`, 'E56', 'E62'),
    como: 'Com zeros à esquerda até 8 dígitos: no modelo é um número.',
    valor: (rps) => mapText(ofAddress('Cep')(rps), (cep) => cep.padStart(8, '0')),
  },
  { ...igual('toma/end/xLgr', `${ENDERECO}/Endereco`, 'E56', 'E119'), valor: ofAddress('Endereco') },
  {
    ...igual('toma/end/nro', `${ENDERECO}/Numero`, 'E113', 'E120'),
    como: 'Igual; S/N quando há logradouro e não há número.',
    valor: (rps) => ofAddress('Numero')(rps) ?? mapText(ofAddress('Endereco')(rps), () => 'S/N'),
  },
  { ...igual('toma/end/xCpl', `${ENDERECO}/Complemento`, 'E121', 'E121'), valor: ofAddress('Complemento') },
  { ...igual('toma/end/xBairro', `${ENDERECO}/Bairro`, 'E114', 'E122'), valor: ofAddress('Bairro') },
  {
    dps: 'toma/fone',
    rps: ['Tomador/Contato/Telefone'],
    como: 'Só os dígitos; menos de seis não são um telefone, e ficam fora.',
    valor: (rps) =>
      mapText(ofTaker('Tomador/Contato/Telefone')(rps), (text) => {
        const digits = text.replace(/\D/g, '');
        return digits.length < 6 ? undefined : digits;
      }),
    errado: 'E127',
  },
  { ...igual('toma/email', 'Tomador/Contato/Email', 'A8', 'A8'), valor: ofTaker('Tomador/Contato/Email') },
  igual('interm/CNPJ', `${INTERM}/CpfCnpj/Cnpj`, 'E66', 'E66'),
  igual('interm/CPF', `${INTERM}/CpfCnpj/Cpf`, 'E66', 'E66'),
  igual('interm/IM', `${INTERM}/InscricaoMunicipal`, 'E64', 'E64'),
  igual('interm/xNome', `${INTERM}/RazaoSocial`, 'E63', 'E128'),
  igual('serv/locPrest/cLocPrestacao', 'Servico/CodigoMunicipio', 'E111', 'E42'),
  {
    dps: 'serv/cServ/cTribNac',
    rps: ['Servico/ItemListaServico', 'Servico/CodigoTributacaoMunicipio', 'DadosDPS/cTribNac'],
    como: 'O da extensão, com ou sem pontos, se tem os 6 dígitos; senão o da correlação do município, ou o único desdobro do subitem na lista nacional, nesta ordem.',
    valor: cTribNacOf,
    falta: 'E30',
    errado: 'E30',
  },
  {
    dps: 'serv/cServ/cTribMun',
    rps: ['Servico/CodigoTributacaoMunicipio'],
    como: 'Igual, quando tem os 3 dígitos de um código municipal nacional; outros servem só à correlação.',
    valor: (rps) =>
      mapText(rps.get('Servico/CodigoTributacaoMunicipio'), (code) => (/^\d{3}$/.test(code) ? code : undefined)),
    errado: 'E35',
  },
  igual('serv/cServ/xDescServ', 'Servico/Discriminacao', 'E41', 'E107'),
  {
    dps: 'serv/cServ/cNBS',
    rps: ['Servico/cNBS', 'Servico/ItemListaServico'],
    como: 'O da extensão, ou o da correlação do município.',
    valor: (rps, { correlacao }) => rps.get('Servico/cNBS') ?? correlacao?.cNBS,
  },
  { ...igual('serv/cServ/cIntContrib', 'Servico/cIntContrib'), como: 'O da extensão.' },
  { ...igual('serv/obra/inscImobFisc', 'DadosObra/inscImobFisc', undefined, 'E67'), como: 'O da extensão.' },
  igual('serv/obra/cObra', 'ConstrucaoCivil/CodigoObra', 'E67', 'E67'),
  igual('serv/infoCompl/idDocTec', 'ConstrucaoCivil/Art', 'E130', 'E130'),
  {
    dps: 'serv/infoCompl/xInfComp',
    rps: [`${V}/OutrasRetencoes`, 'Tomador/RazaoSocial'],
    como: 'O que a DPS não tem onde levar: outras retenções, e o nome de um tomador sem CPF nem CNPJ. Na integração, também o que ela escolheu.',
    valor: remarksOf,
  },
  {
    ...igual('valores/vServPrest/vServ', `${V}/ValorServicos`, 'E98', 'E18'),
    valor: (rps) => money(rps, `${V}/ValorServicos`, true),
  },
  dinheiro('valores/vDescCondIncond/vDescIncond', `${V}/DescontoIncondicionado`, 'E21'),
  dinheiro('valores/vDescCondIncond/vDescCond', `${V}/DescontoCondicionado`, 'E21'),
  dinheiro('valores/vDedRed/vDR', `${V}/ValorDeducoes`, 'E19'),
  ofNatureza(
    'valores/trib/tribMun/tribISSQN',
    '4 imune → 2; as demais → 1: onde o imposto é devido resulta do serviço e do local, e a natureza 1 ou 2 que diga outra coisa recusa o lote.',
    (rps) => (rps.get('NaturezaOperacao') === '4' ? '2' : '1'),
  ),
  ofNatureza('valores/trib/tribMun/tpImunidade', 'Da correlação do município, na natureza 4.', (rps, { correlacao }) =>
    rps.get('NaturezaOperacao') === '4' ? correlacao?.tpImunidade : undefined,
  ),
  ofNatureza(
    'valores/trib/tribMun/exigSusp/tpSusp',
    '5 → 1 decisão judicial, 6 → 2 processo administrativo.',
    (rps) => ({ '5': '1', '6': '2' })[rps.get('NaturezaOperacao') ?? ''],
  ),
  {
    dps: 'valores/trib/tribMun/exigSusp/nProcesso',
    rps: ['ExigibilidadeSuspensa/nProcesso', 'NaturezaOperacao'],
    como: 'O da extensão: o modelo não tem o número do processo, e sem ele a DPS é recusada.',
    valor: (rps) => (isSuspended(rps) ? rps.get('ExigibilidadeSuspensa/nProcesso') : undefined),
    falta: 'E144',
    errado: 'E144',
  },
  ofNatureza(
    'valores/trib/tribMun/BM/nBM',
    'Da correlação do município, na natureza 3 (isenção).',
    (rps, { correlacao }) => (isExempt(rps) ? correlacao?.nBM : undefined),
  ),
  // An exemption without a register becomes a benefit that takes the whole base (D-167).
  ofNatureza(
    'valores/trib/tribMun/BM/pRedBCBM',
    '100.00 na natureza 3: a isenção é um benefício que reduz a base por inteiro. Fora onde o cadastro de benefícios do município já diz que o número é uma isenção.',
    (rps, { isIsencao }) => (isExempt(rps) && isIsencao !== true ? '100.00' : undefined),
  ),
  {
    ...igual('valores/trib/tribMun/tpRetISSQN', `${V}/IssRetido`, 'E152', 'E37'),
    como: '1 → 2 retido pelo tomador, 2 → 1 não retido.',
    valor: (rps) => ({ '1': '2', '2': '1' })[rps.get(`${V}/IssRetido`) ?? ''],
  },
  {
    ...igual('valores/trib/tribMun/pAliq', `${V}/Aliquota`, 'E123', undefined),
    como: 'Em percentual: 0.02 → 2.00; de 1 em diante já é percentual. Fora onde a nota não tem alíquota: imune, suspensa, MEI, regime especial, Simples Nacional sem retenção, e isenção do cadastro de benefícios.',
    valor: (rps, { isIsencao }) => (isExempt(rps) && isIsencao === true ? undefined : aliquotaOf(rps)),
  },
  {
    dps: 'valores/trib/tribFed/piscofins/CST',
    rps: [`${V}/ValorPis`, `${V}/ValorCofins`, `${V}/ValorCsll`, `${V}/CSTPisCofins`],
    como: 'O da extensão; sem ele, 00 (nenhum) quando há PIS, COFINS ou CSLL: o modelo não traz a situação tributária.',
    valor: (rps) =>
      mapText(rps.get(`${V}/CSTPisCofins`), (cst) => cst.padStart(2, '0')) ??
      (hasContributions(rps) ? '00' : undefined),
    errado: 'E103',
  },
  {
    ...igual('valores/trib/tribFed/piscofins/vBCPisCofins', `${V}/BaseCalculoPisCofins`, undefined, 'E103'),
    como: 'O da extensão; zero é o mesmo que nada.',
    valor: (rps) => mapText(money(rps, `${V}/BaseCalculoPisCofins`), (base) => base.replace(/(\.\d\d)0+$/, '$1')),
  },
  debito('valores/trib/tribFed/piscofins/vPis', 'ValorPis'),
  debito('valores/trib/tribFed/piscofins/vCofins', 'ValorCofins'),
  {
    dps: 'valores/trib/tribFed/piscofins/tpRetPisCofins',
    rps: [`${V}/TipoRetencaoPisCofins`, `${V}/ValorPis`, `${V}/ValorCofins`, `${V}/ValorCsll`],
    como: 'O da extensão; sem ele, por quais dos três vêm: PIS e COFINS e CSLL 3, PIS e COFINS 4, PIS 5, COFINS 6, COFINS e CSLL 7, CSLL 8, PIS e CSLL 9.',
    valor: (rps) => rps.get(`${V}/TipoRetencaoPisCofins`) ?? retentionKind(rps),
    errado: 'E103',
  },
  dinheiro('valores/trib/tribFed/vRetCP', `${V}/ValorInss`, 'E99'),
  dinheiro('valores/trib/tribFed/vRetIRRF', `${V}/ValorIr`, 'E99'),
  {
    dps: 'valores/trib/tribFed/vRetCSLL',
    rps: [`${V}/ValorCsll`, `${V}/ValorPis`, `${V}/ValorCofins`],
    como: 'A soma de PIS, COFINS e CSLL retidos: todos os que vêm, ou os que TipoRetencaoPisCofins diz.',
    valor: (rps) => {
      const retained = CONTRIBUTIONS.filter((name) => isRetained(rps, name));
      const total = retained.reduce((all, name) => add(all, amount(rps, name)), ZERO);
      return total > ZERO ? formatDecimal(total) : undefined;
    },
    errado: 'E99',
  },
  totalAproximado('Fed'),
  totalAproximado('Est'),
  totalAproximado('Mun'),
  fixo('valores/trib/totTrib/indTotTrib', '0, quando o RPS não traz o total aproximado dos tributos.', (rps) =>
    hasTotals(rps) ? undefined : '0',
  ),
  ibscbs('cIndOp', 'ControleIBSCBS/cIndOp', 'cIndOp'),
  ibscbs('valores/trib/gIBSCBS/CST', 'ControleIBSCBS/CST', 'CST'),
  ibscbs('valores/trib/gIBSCBS/cClassTrib', 'ControleIBSCBS/cClassTrib', 'cClassTrib'),
];

/** Elements of the RPS that the DPS does not take, each with the reason. */
export const NAO_LEVADOS: readonly { readonly rps: string; readonly porque: string }[] = [
  { rps: 'IdentificacaoRps/Tipo', porque: 'Fica com o RPS, por onde se consulta a nota dele.' },
  { rps: 'IncentivadorCultural', porque: 'A DPS não tem esse indicador; volta na nota do serviço SOAP como veio.' },
  { rps: 'Status', porque: 'Só um RPS normal gera nota.' },
  { rps: 'Servico/xDescServ', porque: 'A descrição é a de Discriminacao.' },
  { rps: 'Servico/CodigoCnae', porque: 'A DPS não tem CNAE; volta na nota do serviço SOAP como veio.' },
  { rps: `${ENDERECO}/Uf`, porque: 'Resulta do município.' },
  ...DECLARADOS.map((name) => ({
    rps: `${V}/${name}`,
    porque: 'É calculado pelo serviço; o que vem acima de zero é comparado, e outro valor recusa o lote.',
  })),
  ...['AliqPis', 'AliqCofins'].map((name) => ({
    rps: `${V}/${name}`,
    porque: 'Os programas a escrevem ora como fração, ora como percentual; o débito é o valor que vem ao lado.',
  })),
  { rps: `${V}/ValorTotalRecebido`, porque: 'Na DPS é do que um intermediário recebeu, e aqui emite o prestador.' },
];

/** The DPS of an RPS, written as the sender itself would have written it, without line numbers or white space. */
export function dpsOfRps(rps: Rps, contexto: Contexto): string {
  const leaves = new Map<string, string>();
  for (const { dps, valor } of MAPA) {
    const text = valor(rps, contexto);
    if (text !== undefined) leaves.set(dps, text);
  }
  const inside = writeItems(INF_DPS, '', leaves);
  // The identifier may have any value here, and the canonical one is stored (D-16).
  return `<?xml version="1.0" encoding="UTF-8"?><DPS xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}"><infDPS Id="DPS1">${inside}</infDPS></DPS>`;
}

/** The row that wrote a place of the DPS, or else the nearest row above, within or beside it. */
export function linhaOf(xpath: string): Linha | undefined {
  let path = xpath.replace(/^\/DPS\/infDPS\/?/, '').replace(/\[\d+\]/g, '');
  while (path !== '') {
    const found = BY_PATH.get(path) ?? MAPA.find(({ dps }) => dps.startsWith(`${path}/`));
    if (found !== undefined) return found;
    path = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  }
  return undefined;
}

const BY_PATH = new Map(MAPA.map((linha) => [linha.dps, linha]));

function writeItems(items: readonly Item[], base: string, leaves: ReadonlyMap<string, string>): string {
  return elementsOf(items)
    .map((item) => writeItem(item, base === '' ? item.name : `${base}/${item.name}`, leaves))
    .join('');
}

function writeItem(item: Leaf | Group, path: string, leaves: ReadonlyMap<string, string>): string {
  const inside = item.kind === 'leaf' ? mapText(leaves.get(path), escapeText) : writeItems(item.items, path, leaves);
  return inside === undefined || inside === '' ? '' : `<${item.name}>${inside}</${item.name}>`;
}

// Constructors of rows.

function igual(dps: string, rps: string, falta?: string, errado?: string): Linha {
  return { dps, rps: [rps], como: 'Igual.', valor: (from) => from.get(rps), falta, errado };
}

function fixo(dps: string, como: string, valor: Linha['valor']): Linha {
  return { dps, rps: [], como, valor };
}

/** A row that the nature of the operation decides. */
function ofNatureza(dps: string, como: string, valor: Linha['valor']): Linha {
  return { dps, rps: ['NaturezaOperacao'], como, valor, errado: 'E144' };
}

function dinheiro(dps: string, rps: string, errado: string): Linha {
  return { dps, rps: [rps], como: 'Igual; zero é o mesmo que nada.', valor: (from) => money(from, rps), errado };
}

/** A debit of the provider itself: an amount that is sent and, by the extension, was not withheld. */
function debito(dps: string, name: 'ValorPis' | 'ValorCofins'): Linha {
  return {
    dps,
    rps: [`${V}/${name}`, `${V}/TipoRetencaoPisCofins`],
    como: 'O que vem e que, segundo TipoRetencaoPisCofins, não foi retido; sem esse elemento, nada.',
    valor: (rps) => (isRetained(rps, name) ? undefined : money(rps, `${V}/${name}`)),
    errado: 'E103',
  };
}

function totalAproximado(esfera: 'Fed' | 'Est' | 'Mun'): Linha {
  const rps = `${V}/pTotTrib${esfera}`;
  return {
    dps: `valores/trib/totTrib/pTotTrib/pTotTrib${esfera}`,
    rps: [rps],
    como: 'O da extensão, arredondado a duas casas; 0.00 quando só os outros vêm, e com os três em zero o grupo não vem.',
    valor: (from) => (hasTotals(from) ? roundedPercent(from.get(rps) ?? '0') : undefined),
    errado: 'E160',
  };
}

function ibscbs(dps: string, rps: string, name: 'CST' | 'cClassTrib' | 'cIndOp'): Linha {
  return {
    dps: `IBSCBS/${dps}`,
    rps: [rps, 'Servico/ItemListaServico'],
    como: 'O da extensão, ou, desde a competência 01/01/2026, o da correlação do município; só com CST e classificação há o grupo.',
    valor: (from, contexto) => {
      // An earlier competence refuses the group (E0850), and a sender that sent no group could not remove it (D-190).
      const added = (competenciaOf(from, contexto) ?? '') < INICIO_IBSCBS ? undefined : contexto.correlacao;
      const of = (one: 'CST' | 'cClassTrib' | 'cIndOp'): string | undefined =>
        from.get(`ControleIBSCBS/${one}`) ?? added?.[one];
      return of('CST') === undefined && of('cClassTrib') === undefined ? undefined : of(name);
    },
  };
}

function remarksOf(rps: Rps, contexto: Contexto): string | undefined {
  const remarks = [...chosenOf(rps, contexto)];
  const others = money(rps, `${V}/OutrasRetencoes`);
  if (others !== undefined) remarks.push(`Outras retenções informadas no RPS: R$ ${others.replace('.', ',')}.`);
  const name = rps.get('Tomador/RazaoSocial');
  if (name !== undefined && !hasTaker(rps)) remarks.push(`Tomador não identificado por CPF ou CNPJ: ${name}.`);
  return remarks.length === 0 ? undefined : remarks.join(' ');
}

/** Values that the sandbox adds to an RPS, by their places in the DPS. */
const ESCOLHAS = [
  'serv/cServ/cTribNac',
  'serv/cServ/cNBS',
  'IBSCBS/cIndOp',
  'IBSCBS/valores/trib/gIBSCBS/CST',
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib',
  'valores/trib/tribMun/tpImunidade',
];

/** The sentence of a note that names the added values; the pattern finds it again. */
export const ESCOLHIDO = /Escolhido na integração, porque o RPS não o traz: [^.]*\./;

function chosenOf(rps: Rps, contexto: Contexto): readonly string[] {
  if (contexto.escolhida !== true) return [];
  const without = { ...contexto, correlacao: undefined };
  const chosen = ESCOLHAS.flatMap((path) => {
    const linha = BY_PATH.get(path)!;
    const value = linha.valor(rps, contexto);
    return value === undefined || value === linha.valor(rps, without) ? [] : [`${path.split('/').at(-1)} ${value}`];
  });
  return chosen.length === 0 ? [] : [`Escolhido na integração, porque o RPS não o traz: ${chosen.join(', ')}.`];
}
