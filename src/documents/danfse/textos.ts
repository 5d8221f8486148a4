/**
 * What stands on the printed note for the number of an option: the texts of the standard (NT SE/CGNFS-e 008, options of the
 * XSD 1.01). Where it prints the description of the schema as it is, the national catalog has it.
 */
import { type CampoEnumerado, enumeracaoOf } from '../../fiscal/catalogs/catalogs.ts';
import { ownOf } from '../../fiscal/own.ts';

const OPCOES = {
  tpAmb: { 1: 'Produção', 2: 'Homologação' },
  ambGer: { 1: 'Prefeitura', 2: 'Sistema Nacional da NFS-e' },
  tpEmit: { 1: 'Prestador', 2: 'Tomador', 3: 'Intermediário' },
  cStat: { 100: 'NFS-e Gerada', 102: 'NFS-e de Decisão Judicial', 103: 'NFS-e Avulsa', 107: 'NFS-e MEI' },
  finNFSe: { 0: 'NFS-e regular' },
  opSimpNac: {
    1: 'Não Optante',
    2: 'Optante - Microempreendedor Individual (MEI)',
    3: 'Optante - Microempresa ou Empresa de Pequeno Porte (ME/EPP)',
  },
  regApTribSN: 'catalog',
  regEspTrib: 'catalog',
  tribISSQN: { 1: 'Operação Tributável', 2: 'Imunidade', 3: 'Exportação de Serviço', 4: 'Não Incidência' },
  tpImunidade: 'catalog',
  tpSusp: {
    1: 'Exigibilidade Suspensa por Decisão Judicial',
    2: 'Exigibilidade Suspensa por Processo Administrativo',
  },
  tpBM: {
    1: 'Isenção',
    2: 'Redução da BC em percentual',
    3: 'Redução da BC em valor',
    4: 'Alíquota Diferenciada',
  },
  tpRetISSQN: { 1: 'Não Retido', 2: 'Retido pelo Tomador', 3: 'Retido pelo Intermediário' },
  tpRetPisCofins: {
    0: 'PIS/COFINS/CSLL Não Retidos',
    1: 'PIS/COFINS Retidos',
    2: 'PIS/COFINS Não Retidos',
    3: 'PIS/COFINS/CSLL Retidos',
    4: 'PIS/COFINS Retidos, CSLL Não Retido',
    5: 'PIS Retido, COFINS/CSLL Não Retido',
    6: 'COFINS Retido, PIS/CSLL Não Retido',
    7: 'PIS Não Retido, COFINS/CSLL Retidos',
    8: 'PIS/COFINS Não Retidos, CSLL Retido',
    9: 'COFINS Não Retido, PIS/CSLL Retidos',
  },
} as const satisfies Partial<Record<CampoEnumerado, Readonly<Record<number, string>> | 'catalog'>>;

export type CampoDescrito = keyof typeof OPCOES;

/** The text of an option. A number without a text is printed as it is: the XML counts. */
export function opcaoOf(campo: CampoDescrito, codigo: string): string {
  const textos: Readonly<Record<string, string>> | 'catalog' = OPCOES[campo];
  if (textos !== 'catalog') return ownOf(textos, codigo) ?? codigo;
  return enumeracaoOf(campo).find((valor) => valor.codigo === codigo)?.descricao ?? codigo;
}
