/** The columns of a table of notes, one row each: CSV, spreadsheet, command and documentation are made of these. */
import type { TipoXlsx } from '../../documents/write-xlsx.ts';
import { enumeracaoOf } from '../../fiscal/catalogs/catalogs.ts';
import type { CampoEnumerado } from '../../fiscal/catalogs/rows.ts';
import { nameClasseIssqn, REGIMES } from '../../fiscal/classe-issqn.ts';
import type { NfsePath } from '../../fiscal/layout/nfse.ts';
import type { Leitura } from './nota-da-nfse.ts';

/** Facts of a note that its NFS-e lacks; moments are ISO 8601 in the time of its municipality. */
type Andamento = {
  readonly chave: string;
  readonly estado: string;
  readonly cancelada: string | undefined;
  /** As the row of the note has them; null: the note is from before they existed. */
  readonly classe: string | null;
  readonly regime: string | null;
};

export type ColunaDaNota = {
  /** Name in a CSV, the same as in every other table. */
  readonly coluna: string;
  /** Heading in a spreadsheet. */
  readonly titulo: string;
  readonly tipo: TipoXlsx;
  /** Text for the documentation. */
  readonly oQue: string;
  readonly read: (ler: Leitura, andamento: Andamento) => string | undefined;
};

const DPS = 'DPS/infDPS';
const PREST = `${DPS}/prest`;
const TOMA = `${DPS}/toma`;
const INTERM = `${DPS}/interm`;
const SERV = `${DPS}/serv`;
const VALORES = `${DPS}/valores`;
const TRIB_MUN = `${VALORES}/trib/tribMun`;
const TRIB_FED = `${VALORES}/trib/tribFed`;
const DESCONTOS = `${VALORES}/vDescCondIncond`;
const EMIT = { CNPJ: 'emit/CNPJ', CPF: 'emit/CPF' } as const;
const IBSCBS_TRIB = `${DPS}/IBSCBS/valores/trib/gIBSCBS`;
const GIBS = 'IBSCBS/totCIBS/gIBS';
const TIPOS_DE_BENEFICIO = '1 isenção, 2 redução da base em percentual, 3 em reais, 4 alíquota diferenciada';

/** A column with the text of the first of these elements that the note has. */
function read(
  coluna: string,
  tipo: TipoXlsx,
  titulo: string,
  oQue: string,
  ...paths: readonly [NfsePath, ...NfsePath[]]
): ColunaDaNota {
  return {
    coluna,
    tipo,
    titulo,
    oQue: `${oQue} (${paths.map((path) => `\`${path.replace(`${DPS}/`, '')}\``).join(' ou ')})`,
    read: (ler) => {
      for (const path of paths) {
        const text = ler(path);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

/** A column with a code of the layout, in words with the code behind. */
function describe(coluna: string, titulo: string, oQue: string, path: NfsePath): ColunaDaNota {
  const campo = path.slice(path.lastIndexOf('/') + 1) as CampoEnumerado;
  return {
    ...read(coluna, 'texto', titulo, `${oQue}, com o código entre parênteses`, path),
    read: (ler) => {
      const codigo = ler(path);
      const known = enumeracaoOf(campo).find((one) => one.codigo === codigo);
      return known === undefined ? codigo : `${known.descricao} (${codigo})`;
    },
  };
}

/** Parties by `tpRetISSQN`. */
const DEVEDORES: Readonly<Record<string, string>> = {
  '1': 'o prestador',
  '2': 'o tomador, que o retém',
  '3': 'o intermediário, que o retém',
};

/** The party that pays the ISSQN of a note, in words; undefined: no ISSQN is due by the note. */
export function describeDevedor(ler: Leitura): string | undefined {
  const isInDas = ler(`${PREST}/regTrib/regApTribSN`) === '1';
  const retencao = ler(RETENCAO) ?? '';
  if (retencao === '1' && isInDas) return 'o prestador, no DAS do Simples Nacional';
  return ler('valores/vISSQN') === undefined && !isInDas ? undefined : DEVEDORES[retencao];
}

/** The ISSQN that somebody else withholds, as a decimal text; undefined: nobody does. */
function findIssqnRetido(ler: Leitura): string | undefined {
  return ler(RETENCAO) === '1' ? undefined : ler('valores/vISSQN');
}

const RETENCAO = `${TRIB_MUN}/tpRetISSQN`;

/** The columns in their order. A name is the same wherever a column has the same content. */
export const COLUNAS_DA_NOTA: readonly ColunaDaNota[] = [
  {
    ...{ coluna: 'chave_acesso', tipo: 'texto', titulo: 'Chave de acesso', oQue: 'As 50 posições da chave' },
    read: (_ler, { chave }) => chave,
  },
  {
    ...{ coluna: 'estado', tipo: 'texto', titulo: 'Estado', oQue: 'O estado da nota quando o arquivo foi feito' },
    read: (_ler, { estado }) => estado,
  },
  read('data_emissao', 'momento', 'Emitida em', 'Momento da emissão, na hora do município', 'dhProc'),
  read('data_competencia', 'data', 'Competência', 'Dia do fato gerador', `${DPS}/dCompet`),
  read('serie_dps', 'texto', 'Série da DPS', 'Série da declaração', `${DPS}/serie`),
  read('numero_dps', 'numero', 'Número da NFS-e', 'Número da nota, por prestador', 'nNFSe'),
  read('prestador_cpf_cnpj', 'texto', 'CNPJ ou CPF do prestador', 'Só os dígitos e as letras', EMIT.CNPJ, EMIT.CPF),
  read('prestador_razao_social', 'texto', 'Prestador', 'Nome ou razão social', 'emit/xNome'),
  read('tomador_cpf_cnpj', 'texto', 'CNPJ ou CPF do tomador', 'Vazio se é do exterior', `${TOMA}/CNPJ`, `${TOMA}/CPF`),
  read('tomador_razao_social', 'texto', 'Tomador', 'Nome ou razão social', `${TOMA}/xNome`),
  read('valor_servico', 'valor', 'Valor do serviço', 'Antes de descontos e deduções', `${VALORES}/vServPrest/vServ`),
  read('numero_dps_nacional', 'texto', 'Número da DPS', 'Número da declaração na série', `${DPS}/nDPS`),
  {
    ...{ coluna: 'data_cancelamento', tipo: 'momento', titulo: 'Cancelada em' },
    oQue: 'Momento do cancelamento, na hora do município; vazio: não foi cancelada',
    read: (_ler, { cancelada }) => cancelada,
  },
  read('substitui', 'texto', 'Substitui a nota', 'Chave da nota substituída', `${DPS}/subst/chSubstda`),
  read('prestador_inscricao_municipal', 'texto', 'Inscrição do prestador', 'Inscrição municipal', 'emit/IM'),
  describe('simples_nacional', 'Simples Nacional', 'Situação do prestador', `${PREST}/regTrib/opSimpNac`),
  describe('apuracao_simples', 'Apuração no Simples', 'Regime de apuração', `${PREST}/regTrib/regApTribSN`),
  describe('regime_especial', 'Regime especial', 'Regime especial do município', `${PREST}/regTrib/regEspTrib`),
  read('tomador_inscricao_municipal', 'texto', 'Inscrição do tomador', 'Inscrição municipal', `${TOMA}/IM`),
  read('tomador_nif', 'texto', 'NIF do tomador', 'Identificação fiscal no exterior', `${TOMA}/NIF`),
  read('tomador_municipio', 'texto', 'Município do tomador', 'Código IBGE', `${TOMA}/end/endNac/cMun`),
  read('tomador_pais', 'texto', 'País do tomador', 'Só se é do exterior', `${TOMA}/end/endExt/cPais`),
  read(
    ...(['intermediario_cpf_cnpj', 'texto', 'CNPJ ou CPF do intermediário', 'Vazio: não há'] as const),
    ...([`${INTERM}/CNPJ`, `${INTERM}/CPF`] as const),
  ),
  read('intermediario_razao_social', 'texto', 'Intermediário', 'Nome ou razão social', `${INTERM}/xNome`),
  read('codigo_tributacao_nacional', 'texto', 'Serviço', 'Código nacional, seis dígitos', `${SERV}/cServ/cTribNac`),
  read('codigo_tributacao_municipal', 'texto', 'Serviço do município', 'Código municipal', `${SERV}/cServ/cTribMun`),
  read('codigo_nbs', 'texto', 'NBS', 'Código da nomenclatura de serviços', `${SERV}/cServ/cNBS`),
  read('descricao_servico', 'texto', 'Descrição', 'O que o prestador escreveu', `${SERV}/cServ/xDescServ`),
  read(
    ...(['codigo_local_prestacao', 'texto', 'Código do local', 'Código IBGE da prestação, ou o país'] as const),
    ...([`${SERV}/locPrest/cLocPrestacao`, `${SERV}/locPrest/cPaisPrestacao`] as const),
  ),
  read('local_prestacao', 'texto', 'Local da prestação', 'Nome do local', 'xLocPrestacao'),
  read('codigo_local_incidencia', 'texto', 'Código da incidência', 'Código IBGE de onde o ISSQN é devido', 'cLocIncid'),
  read('local_incidencia', 'texto', 'Local da incidência', 'Nome do município em que o ISSQN é devido', 'xLocIncid'),
  describe('tributacao_issqn', 'Tributação do ISSQN', 'O que incide', `${TRIB_MUN}/tribISSQN`),
  read('processo_suspensao', 'texto', 'Processo', 'O que suspende a exigência', `${TRIB_MUN}/exigSusp/nProcesso`),
  read('beneficio', 'texto', 'Benefício', 'Número do benefício municipal', `${TRIB_MUN}/BM/nBM`),
  read('tipo_beneficio', 'texto', 'Tipo do benefício', TIPOS_DE_BENEFICIO, 'valores/tpBM'),
  read('desconto_incondicionado', 'valor', 'Desconto incondicionado', 'Sai da base', `${DESCONTOS}/vDescIncond`),
  read('desconto_condicionado', 'valor', 'Desconto condicionado', 'Sai só do líquido', `${DESCONTOS}/vDescCond`),
  read(
    ...(['valor_deducao', 'valor', 'Deduções', 'Dedução ou redução da base, em reais'] as const),
    ...(['valores/vCalcDR', `${VALORES}/vDedRed/vDR`] as const),
  ),
  read(
    ...(['valor_beneficio', 'valor', 'Redução pelo benefício', 'O que o benefício tira da base, em reais'] as const),
    ...(['valores/vCalcBM', `${TRIB_MUN}/BM/vRedBCBM`] as const),
  ),
  read('valor_base_calculo', 'valor', 'Base do ISSQN', 'Vazia se o ISSQN não é calculado na nota', 'valores/vBC'),
  read('aliquota_issqn', 'percentual', 'Alíquota do ISSQN', 'Em por cento', 'valores/pAliqAplic'),
  read('valor_issqn', 'valor', 'ISSQN', 'Vazio se não é calculado na nota', 'valores/vISSQN'),
  {
    ...{ coluna: 'devedor_issqn', tipo: 'texto', titulo: 'Quem deve o ISSQN' },
    oQue: 'O prestador, também no DAS do Simples Nacional, ou o tomador ou intermediário que o retém',
    read: describeDevedor,
  },
  {
    ...{ coluna: 'issqn_retido', tipo: 'valor', titulo: 'ISSQN retido' },
    oQue: 'O ISSQN da nota, se o tomador ou o intermediário o retém; vazio: ninguém o retém',
    read: findIssqnRetido,
  },
  read('retencao_previdencia', 'valor', 'INSS retido', 'Contribuição previdenciária', `${TRIB_FED}/vRetCP`),
  read('retencao_irrf', 'valor', 'IRRF retido', 'Imposto de renda', `${TRIB_FED}/vRetIRRF`),
  read('retencao_csll', 'valor', 'PIS, COFINS e CSLL retidos', 'As contribuições juntas', `${TRIB_FED}/vRetCSLL`),
  read('total_retido', 'valor', 'Total retido', 'Retenções federais e ISSQN retido', 'valores/vTotalRet'),
  read('valor_liquido', 'valor', 'Valor líquido', 'O que o tomador paga ao prestador', 'valores/vLiq'),
  read('cst_ibs_cbs', 'texto', 'CST do IBS e da CBS', 'Situação tributária', `${IBSCBS_TRIB}/CST`),
  read('classificacao_ibs_cbs', 'texto', 'Classificação', 'Classificação tributária', `${IBSCBS_TRIB}/cClassTrib`),
  read('base_ibs_cbs', 'valor', 'Base do IBS e da CBS', 'Vazia se a nota não tem o grupo', 'IBSCBS/valores/vBC'),
  read('ibs_estado', 'valor', 'IBS do estado', 'Parte do estado', `${GIBS}/gIBSUFTot/vIBSUF`),
  read('ibs_municipio', 'valor', 'IBS do município', 'Parte do município', `${GIBS}/gIBSMunTot/vIBSMun`),
  read('valor_ibs', 'valor', 'IBS', 'Total do IBS', `${GIBS}/vIBSTot`),
  read('valor_cbs', 'valor', 'CBS', 'Total da CBS', 'IBSCBS/totCIBS/gCBS/vCBS'),
  read(
    'valor_total',
    'valor',
    'Total da nota',
    'Em 2026 o líquido; desde 2027 também o IBS e a CBS',
    'IBSCBS/totCIBS/vTotNF',
  ),
  {
    ...{ coluna: 'situacao_issqn', tipo: 'texto', titulo: 'Situação do ISSQN' },
    oQue: 'Como em Mês, no console: apurado, retido, de outro município e o mais. A nota cancelada mantém a que tinha',
    read: (_ler, { classe }) => nameClasseIssqn(classe),
  },
  {
    ...{ coluna: 'regime_prestador', tipo: 'texto', titulo: 'Regime do prestador' },
    oQue: 'Como em Mês, no console; vazio na nota de antes desta contagem',
    read: (_ler, { regime }) => REGIMES[regime ?? ''],
  },
];
