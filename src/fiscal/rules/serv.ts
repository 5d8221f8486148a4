/** Rules of the place of provision and of the service codes, `serv/locPrest` and `serv/cServ`. */
import {
  type Correlacao,
  correlacoes,
  correlacoesOf,
  correlacoesOfSubitem,
  nbsOf,
  servicoOf,
} from '../catalogs/catalogs.ts';
import { once } from '../catalogs/table.ts';
import type { Facts } from '../facts.ts';
import { MARITIME } from '../incidence.ts';
import type { Dps } from '../layout/dps.ts';
import { DO_LEIAUTE_FUTURO } from '../layout/leiaute-futuro.ts';
import { municipioHead, paisHead } from './address.ts';
import { annexHead, type Rule, whenPresent } from './rule.ts';
import { COMERCIO_EXTERIOR } from './toma.ts';

/** The one code that may be provided in maritime waters, by the specification (decided in D-80). */
const MARITIME_SERVICO = '200101';

export const SERV: readonly Rule[] = [
  {
    ...municipioHead('no local da prestação', ({ serv }: Dps) => serv.locPrest.cLocPrestacao),
    at: 'serv/locPrest/cLocPrestacao',
    origin: 'Especificação, Errors: E403',
    why: 'O local da prestação decide onde o imposto de muitos serviços é devido.',
    when: ({ serv }) => serv.locPrest.cLocPrestacao !== undefined && serv.locPrest.cLocPrestacao !== MARITIME,
    rejects: [{ 'serv/locPrest/cLocPrestacao': '9999999' }],
    accepts: [{ 'serv/locPrest/cLocPrestacao': '3304557' }],
  },
  {
    code: 'E1313',
    at: 'serv/locPrest/cLocPrestacao',
    message: ({ serv }) =>
      `cLocPrestacao 0000000 (águas marítimas) não é aceito com cTribNac ${serv.cServ.cTribNac}. Informe o município da prestação.`,
    origin: 'Especificação, Errors: E1313',
    why: 'Só o serviço portuário 20.01.01 pode ser prestado em águas marítimas, segundo a especificação do serviço.',
    national:
      'No padrão nacional o E1313 diz o contrário: com 0000000 e código diferente de 200101 a incidência é do município do prestador.',
    when: ({ serv }) => serv.locPrest.cLocPrestacao === MARITIME,
    must: ({ serv }) => serv.cServ.cTribNac === MARITIME_SERVICO,
    found: ({ serv }) => serv.locPrest.cLocPrestacao,
    expected: 'código IBGE do município da prestação',
    also: ['E1402'],
    rejects: [{ 'serv/locPrest/cLocPrestacao': MARITIME }],
    accepts: [{ 'serv/locPrest/cLocPrestacao': MARITIME, 'serv/cServ/cTribNac': MARITIME_SERVICO }],
  },
  {
    code: 'E1402',
    at: 'serv/cServ/cTribNac',
    message: ({ serv }) =>
      `Com o local da prestação em águas marítimas (0000000) o cTribNac deve ser ${MARITIME_SERVICO}; veio ${serv.cServ.cTribNac}.`,
    origin: 'Especificação, Errors: E1402',
    why: 'É a outra metade do E1313: o mesmo desacordo visto do código do serviço.',
    national:
      'No padrão nacional o E1402 proíbe 0000000 justamente com 200101; o ADN pode recusar essa nota depois de emitida.',
    when: ({ serv }) => serv.locPrest.cLocPrestacao === MARITIME,
    must: ({ serv }) => serv.cServ.cTribNac === MARITIME_SERVICO,
    found: ({ serv }) => serv.cServ.cTribNac,
    expected: MARITIME_SERVICO,
    also: ['E1313'],
    rejects: [{ 'serv/locPrest/cLocPrestacao': MARITIME, 'serv/cServ/cTribNac': '200102' }],
    accepts: [{ 'serv/locPrest/cLocPrestacao': MARITIME, 'serv/cServ/cTribNac': MARITIME_SERVICO }],
  },
  {
    code: 'E1402',
    at: 'serv/locPrest/cLocPrestacao',
    scope: 'aviso',
    message: `cLocPrestacao ${MARITIME} (águas marítimas) com cTribNac ${MARITIME_SERVICO} é aceito aqui, e o ADN recusa a combinação (E1402): a nota pode não ser autorizada. Se o serviço se deu num porto, informe o município dele.`,
    origin: 'Anexo I, E1402; decisão D-80',
    why: 'O padrão nacional diz o contrário da especificação: a nota é emitida, com um aviso de que o ADN a pode recusar.',
    when: ({ serv }) => serv.locPrest.cLocPrestacao === MARITIME,
    must: ({ serv }) => serv.cServ.cTribNac !== MARITIME_SERVICO,
    rejects: [{ 'serv/locPrest/cLocPrestacao': MARITIME, 'serv/cServ/cTribNac': MARITIME_SERVICO }],
    accepts: [],
  },
  {
    ...annexHead('E0304'),
    ...paisHead(
      ({ serv }: Dps) => serv.locPrest.cPaisPrestacao,
      'para um serviço prestado no Brasil use serv/locPrest/cLocPrestacao, com o código IBGE do município.',
      '',
      'cPaisPrestacao',
    ),
    at: 'serv/locPrest/cPaisPrestacao',
    title: 'O país da prestação não existe ou é o Brasil',
    mend: 'Escolha o código em /catalogo/paises; para um serviço prestado no Brasil informe o município em cLocPrestacao.',
    why: 'O país da prestação só se informa quando o serviço foi prestado fora do Brasil.',
    rejects: [
      { 'serv/locPrest/cPaisPrestacao': 'BR', ...COMERCIO_EXTERIOR },
      { 'serv/locPrest/cPaisPrestacao': 'XQ', ...COMERCIO_EXTERIOR },
      { 'serv/locPrest/cPaisPrestacao': 'ZZ', ...COMERCIO_EXTERIOR },
    ],
    accepts: [{ 'serv/locPrest/cPaisPrestacao': 'PT', ...COMERCIO_EXTERIOR }],
  },
  {
    code: 'E002',
    at: 'serv/cServ/cTribNac',
    message: ({ serv }) => {
      const { cTribNac } = serv.cServ;
      const servico = servicoOf(cTribNac);
      if (servico === undefined) {
        return `cTribNac ${cTribNac} não existe na lista nacional de serviços. Consulte o catálogo em /catalogo/codigos_tributacao_nacional.`;
      }
      return servico.situacao === 'futuro'
        ? `cTribNac ${cTribNac} (${servico.descricao}) ${DO_LEIAUTE_FUTURO}. Use um código em vigor da lista nacional.`
        : `cTribNac ${cTribNac} é um título da lista nacional ("${servico.descricao}"), não um serviço que se emite; use um dos códigos dentro dele.`;
    },
    origin: 'Especificação, Issuance: regra 4; decisão D-13',
    why: 'O código nacional decide incidência, grupos obrigatórios e tributação; não há código substituto.',
    must: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.emissivel === true,
    found: ({ serv }) => serv.cServ.cTribNac,
    expected: 'código de tributação nacional emissível, 6 dígitos',
    rejects: [{ 'serv/cServ/cTribNac': '999999' }, { 'serv/cServ/cTribNac': '010100' }],
    accepts: [{ 'serv/cServ/cTribNac': '010201' }],
  },
  {
    code: 'E0310',
    at: 'serv/cServ/cTribNac',
    message: ({ serv }) =>
      `O município não administra o código ${serv.cServ.cTribNac} na competência informada. Confira o código na lista em /catalogo/codigos_tributacao_municipal; se é o do serviço, peça ao município que o inclua.`,
    origin: 'Especificação, Errors: E0310; decisão D-13',
    why: 'A prefeitura só emite notas dos serviços que administra.',
    when: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.emissivel === true,
    must: ({ serv, dCompet }, { administers }) => administers(serv.cServ.cTribNac, dCompet),
    found: ({ serv }) => serv.cServ.cTribNac,
    // Needs a municipality with a service list: the sandbox administers every national code (decided in D-61).
    rejects: [],
    accepts: [{}],
    national:
      'No padrão nacional o E0310 diz que o código não existe na lista nacional, e o E0312 que o município não o administra.',
  },
  whenPresent(({ serv }) => serv.cServ.cTribMun, {
    code: 'E402',
    at: 'serv/cServ/cTribMun',
    message: (cTribMun) =>
      `cTribMun ${cTribMun} não está na lista de serviços do município na competência informada. Consulte a lista em /catalogo/codigos_tributacao_municipal, ou retire o elemento, que é opcional: basta o código nacional.`,
    origin: 'Especificação, Errors: E402; decisão D-13',
    why: 'O código municipal, quando vem, escolhe descrição e alíquota na lista do município.',
    must: (cTribMun, { dCompet }, { servicoMunicipal }) => servicoMunicipal(cTribMun, dCompet) !== undefined,
    found: (cTribMun) => cTribMun,
    rejects: [],
    accepts: [{ 'serv/cServ/cTribMun': null }],
  }),
  whenPresent(servicoOfMunicipio, {
    code: 'E402',
    at: 'serv/cServ/cTribMun',
    message: ({ cTribNac: other, descricao }, { serv }) => {
      const { cTribMun, cTribNac } = serv.cServ;
      return `cTribMun ${cTribMun} ("${descricao}") é, na lista do município, do cTribNac ${other}, e a DPS traz ${cTribNac}. Corrija um dos dois, ou retire cTribMun, que é opcional.`;
    },
    origin: 'Especificação, Errors: E402; decisão D-13',
    why: 'Um código municipal pertence a um código nacional; com outro, a descrição e a alíquota da nota seriam as de outro serviço.',
    must: ({ cTribNac }, { serv }) => cTribNac === serv.cServ.cTribNac,
    found: (_servico, { serv }) => serv.cServ.cTribMun,
    // Needs a municipality with a service list.
    rejects: [],
    accepts: [{}],
  }),
  {
    ...annexHead('E0315'),
    at: 'serv/cServ/cTribMun',
    title: 'Código de tributação municipal 000',
    mend: 'Use um código da lista de serviços do município, ou retire cTribMun, que é opcional.',
    message: 'cTribMun 000 não é um código. Informe o do serviço na lista do município, ou retire o elemento.',
    why: 'Quem não tem código municipal deixa o elemento de fora; 000 não é o de nenhum serviço.',
    when: ({ serv }) => serv.cServ.cTribMun !== undefined,
    must: ({ serv }) => serv.cServ.cTribMun !== '000',
    found: ({ serv }) => serv.cServ.cTribMun,
    rejects: [{ 'serv/cServ/cTribMun': '000' }],
    accepts: [{ 'serv/cServ/cTribMun': '001' }],
  },
  {
    code: 'E0316',
    at: 'serv/cServ/cNBS',
    title: 'Código NBS inexistente',
    mend: 'Escolha em /catalogo/nbs o código de 9 dígitos do serviço. A NBS é a 2.0, escrita sem pontuação.',
    message: ({ serv }) => {
      const { cNBS } = serv.cServ;
      const nbs = nbsOf(cNBS);
      return nbs === undefined
        ? `cNBS ${cNBS} não existe na NBS 2.0. Consulte o catálogo em /catalogo/nbs.`
        : `cNBS ${cNBS} ${nbs.descricao === undefined ? 'não é um serviço' : `("${nbs.descricao}") não está na lista nacional da NFS-e`}. Consulte o catálogo em /catalogo/nbs.`;
    },
    origin: 'Especificação, Sandbox tenant e serv/cServ/cNBS; Anexo I, E0316',
    why: 'A NBS diz ao IBS e à CBS que serviço é, e só os códigos da lista nacional se emitem. A falta dela responde E002.',
    must: ({ serv }) => nbsOf(serv.cServ.cNBS)?.emissivel === true,
    found: ({ serv }) => serv.cServ.cNBS,
    expected: 'código NBS de 9 dígitos de /catalogo/nbs',
    rejects: [
      { 'serv/cServ/cNBS': '123456789' },
      { 'serv/cServ/cNBS': '999999999' },
      { 'serv/cServ/cNBS': '104022900' },
    ],
    accepts: [{ 'serv/cServ/cNBS': '115022000' }],
  },
  whenPresent(subitemOf, {
    code: 'E0316',
    at: 'serv/cServ/cNBS',
    scope: 'aviso',
    message: (subitem, { serv, IBSCBS }) => {
      const { cTribNac, cNBS } = serv.cServ;
      const rows = correlacoesOfSubitem(subitem).filter((row) => isOfService(row, cTribNac));
      const ofNbs = rows.filter((row) => row.nbs === cNBS || row.nbs === undefined);
      if (ofNbs.length === 0 || IBSCBS === undefined) {
        return `O Anexo VIII não relaciona a NBS ${cNBS} ao serviço ${cTribNac}; relaciona ${enumerate(rows.map((row) => row.nbs))}. Confira a NBS; é só um aviso.`;
      }
      const { cIndOp, valores } = IBSCBS;
      const { cClassTrib } = valores.trib.gIBSCBS;
      const pairs = ofNbs.map((row) => `cIndOp ${row.cIndOp} com cClassTrib ${row.cClassTrib}`);
      const sent = cIndOp === undefined ? `cClassTrib ${cClassTrib}` : `cIndOp ${cIndOp} com cClassTrib ${cClassTrib}`;
      return `O Anexo VIII não relaciona ${sent} ao serviço ${cTribNac} com a NBS ${cNBS}; relaciona ${enumerate(pairs)}. Confira; é só um aviso.`;
    },
    origin: 'Anexo VIII; decisão D-84',
    why: 'O Anexo VIII relaciona serviço, NBS, indicador da operação e classificação. É trabalho inicial segundo quem o publica: uma combinação que ele não traz é só um aviso.',
    when: (_subitem, { serv }) => nbsOf(serv.cServ.cNBS)?.emissivel === true,
    must: isInAnexo8,
    rejects: [
      { 'serv/cServ/cNBS': '101011100' },
      {
        'IBSCBS/valores/trib/gIBSCBS/CST': '200',
        'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052',
      },
    ],
    accepts: [],
  }),
];

/** The service of the municipality's list that the DPS names. */
function servicoOfMunicipio({ serv, dCompet }: Dps, { servicoMunicipal }: Facts) {
  const { cTribMun } = serv.cServ;
  const servico = cTribMun === undefined ? undefined : servicoMunicipal(cTribMun, dCompet);
  return servico === 'sem_lista' ? undefined : servico;
}

function subitemOf({ serv }: Dps): string | undefined {
  return servicoOf(serv.cServ.cTribNac)?.subitem;
}

/** The annex distinguishes codes below the subitem only in item 99. */
function isOfService(row: Correlacao, cTribNac: string): boolean {
  return row.cTribNac === undefined || row.cTribNac === cTribNac;
}

/** Whether the annex has the combination, or does not cover it: a missing value is not compared. */
function isInAnexo8(subitem: string, dps: Dps): boolean {
  for (const row of correlacoesOf(dps.serv.cServ.cNBS))
    if (row.subitem === subitem && isCombined(row, dps)) return true;
  const rows = correlacoesOfSubitem(subitem).filter((row) => isOfService(row, dps.serv.cServ.cTribNac));
  return rows.length === 0 || rows.some((row) => row.nbs === undefined && isCombined(row, dps));
}

function isCombined(row: Correlacao, { serv, IBSCBS }: Dps): boolean {
  if (!isOfService(row, serv.cServ.cTribNac)) return false;
  if (IBSCBS === undefined) return true;
  const { cIndOp } = IBSCBS;
  const { CST, cClassTrib } = IBSCBS.valores.trib.gIBSCBS;
  const isClassified = row.cClassTrib === undefined || row.cClassTrib === cClassTrib || CST === NAO_INCIDENCIA;
  return (
    isClassified &&
    (row.cIndOp === undefined || cIndOp === undefined || row.cIndOp === cIndOp || !INDICADORES_DO_ANEXO().has(cIndOp))
  );
}

/** Exports, immune providers, gifts: the parties and the place decide on them, not the service, so the annex does not list them (D-84). */
const NAO_INCIDENCIA = '410';

/** Indicators of any row; the others, such as that of a party abroad, are compared with no service (D-84). */
const INDICADORES_DO_ANEXO = once(() => new Set(correlacoes().map(({ cIndOp }) => cIndOp)));

/** The number of the annex's alternatives in a remark. */
const NAMED_MAX = 5;

function enumerate(all: readonly (string | undefined)[]): string {
  const known = [...new Set(all)].filter((one) => one !== undefined);
  const more = known.length - NAMED_MAX;
  return `${known.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` e mais ${more}` : ''}`;
}
