/**
 * Columns of a note that repeat its NFS-e: the name, the place in the NFS-e, and the comparison. A change of the row alone contradicts the
 * document.
 */

import type { NotaColumn } from '../../base/book/nota-columns.ts';
import { infNfseOf, readInside } from '../../documents/own-note.ts';
import { formatDecimal, parseDecimal } from '../../fiscal/decimal.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { attributeOf, type Elemento } from '../../fiscal/layout/tree.ts';

export type Leitura = (path: string) => string | undefined;

/** Kind of value of a column, shown in place of the value. */
type Natureza = 'documento' | 'nome' | 'identificador' | 'número' | 'código' | 'data' | 'momento' | 'valor';

export type Campo = {
  readonly coluna: NotaColumn | 'numero_dps' | 'prestador_cpf_cnpj';
  readonly oQue: string;
  readonly natureza: Natureza;
  readonly nota: (ler: Leitura, infNfse: Elemento) => string | undefined;
  readonly dps?: (dps: Dps) => string | undefined;
  /** Rows from before this column lack it. */
  readonly isLater?: true;
};

const DPS = 'DPS/infDPS';

/** The first of these texts that is present, as the number of a party. */
export function firstOf(ler: Leitura, ...paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const text = ler(path);
    if (text !== undefined) return text;
  }
  return undefined;
}

export const CAMPOS: readonly Campo[] = [
  {
    ...{ coluna: 'chave_acesso', oQue: 'chave de acesso', natureza: 'identificador' },
    nota: (_ler, infNfse) => attributeOf(infNfse, 'Id')?.slice('NFS'.length),
  },
  {
    ...{ coluna: 'id_dps', oQue: 'identificador da DPS', natureza: 'identificador' },
    nota: (_ler, infNfse) => {
      const dps = infNfse.children.find(({ name }) => name === 'DPS');
      const infDps = dps?.children.find(({ name }) => name === 'infDPS');
      return infDps && attributeOf(infDps, 'Id');
    },
  },
  {
    ...{ coluna: 'prestador_cpf_cnpj', oQue: 'CNPJ ou CPF do prestador', natureza: 'documento' },
    nota: (ler) => firstOf(ler, 'emit/CNPJ', 'emit/CPF'),
    dps: ({ prest }) => prest.CNPJ ?? prest.CPF,
  },
  {
    ...{ coluna: 'prestador_razao_social', oQue: 'nome do prestador', natureza: 'nome' },
    nota: (ler) => ler('emit/xNome'),
  },
  {
    ...{ coluna: 'prestador_inscricao_municipal', oQue: 'inscrição municipal do prestador', natureza: 'identificador' },
    nota: (ler) => ler('emit/IM'),
  },
  {
    ...{ coluna: 'tomador_cpf_cnpj', oQue: 'CNPJ ou CPF do tomador', natureza: 'documento' },
    nota: (ler) => firstOf(ler, `${DPS}/toma/CNPJ`, `${DPS}/toma/CPF`),
    dps: ({ toma }) => toma?.CNPJ ?? toma?.CPF,
  },
  {
    ...{ coluna: 'tomador_razao_social', oQue: 'nome do tomador', natureza: 'nome' },
    nota: (ler) => ler(`${DPS}/toma/xNome`),
  },
  {
    ...{ coluna: 'intermediario_cpf_cnpj', oQue: 'CNPJ ou CPF do intermediário', natureza: 'documento', isLater: true },
    nota: (ler) => firstOf(ler, `${DPS}/interm/CNPJ`, `${DPS}/interm/CPF`),
    dps: ({ interm }) => interm?.CNPJ ?? interm?.CPF,
  },
  {
    ...{ coluna: 'numero_dps', oQue: 'número da NFS-e', natureza: 'número' },
    nota: (ler) => ler('nNFSe'),
  },
  {
    ...{ coluna: 'serie_dps', oQue: 'série da DPS', natureza: 'número' },
    nota: (ler) => ler(`${DPS}/serie`),
    dps: ({ serie }) => serie,
  },
  {
    ...{ coluna: 'numero_dps_nacional', oQue: 'número da DPS', natureza: 'número' },
    nota: (ler) => ler(`${DPS}/nDPS`),
    dps: ({ nDPS }) => nDPS,
  },
  {
    ...{ coluna: 'data_emissao', oQue: 'momento da emissão', natureza: 'momento' },
    nota: (ler) => ler('dhProc'),
  },
  {
    ...{ coluna: 'data_competencia', oQue: 'competência', natureza: 'data' },
    nota: (ler) => ler(`${DPS}/dCompet`),
    dps: ({ dCompet }) => dCompet,
  },
  {
    ...{ coluna: 'servico', oQue: 'código do serviço', natureza: 'código', isLater: true },
    nota: (ler) => ler(`${DPS}/serv/cServ/cTribNac`),
    dps: ({ serv }) => serv.cServ.cTribNac,
  },
  {
    ...{ coluna: 'substitui', oQue: 'nota substituída', natureza: 'identificador', isLater: true },
    nota: (ler) => ler(`${DPS}/subst/chSubstda`),
    dps: ({ subst }) => subst?.chSubstda,
  },
  {
    ...{ coluna: 'codigo_situacao_nfse', oQue: 'código da situação da NFS-e', natureza: 'código', isLater: true },
    nota: (ler) => ler('cStat'),
  },
  {
    ...{ coluna: 'valor_servico', oQue: 'valor do serviço', natureza: 'valor' },
    nota: (ler) => ler(`${DPS}/valores/vServPrest/vServ`),
    dps: ({ valores }) => formatDecimal(valores.vServPrest.vServ),
  },
  {
    ...{ coluna: 'valor_base_calculo', oQue: 'base de cálculo do ISSQN', natureza: 'valor', isLater: true },
    nota: (ler) => ler('valores/vBC'),
  },
  {
    ...{ coluna: 'aliquota_issqn', oQue: 'alíquota do ISSQN', natureza: 'valor', isLater: true },
    nota: (ler) => ler('valores/pAliqAplic'),
  },
  {
    ...{ coluna: 'valor_issqn', oQue: 'valor do ISSQN', natureza: 'valor' },
    nota: (ler) => ler('valores/vISSQN'),
  },
];

/** Amounts are compared by value, moments to the second, and numbers without leading zeros. */
export function isSame({ natureza }: Campo, one: string, other: string): boolean {
  if (one === other) return true;
  if (natureza === 'momento') return secondOf(one) === secondOf(other);
  const [a, b] = [parseDecimal(one), parseDecimal(other)];
  return (natureza === 'valor' || natureza === 'número') && a !== undefined && a === b;
}

function secondOf(moment: string): number {
  return Math.floor(Date.parse(moment) / 1000);
}

/** A column that its NFS-e contradicts, and how. */
export type Contradita = { readonly coluna: string; readonly como: string };

/** Columns of a row, as text, that contradict the NFS-e. Throws when the NFS-e does not read as one of ours. */
export function contraditasOf(row: Readonly<Record<string, string | null>>, nfse: Uint8Array): readonly Contradita[] {
  const infNfse = infNfseOf(nfse);
  const ler = readInside(infNfse);
  return CAMPOS.flatMap((campo): readonly Contradita[] => {
    const { coluna, natureza } = campo;
    const said = campo.nota(ler, infNfse);
    const stored = row[coluna] ?? undefined;
    if (said === undefined && stored === undefined) return [];
    if (said === undefined) return [{ coluna, como: `a coluna traz ${UM[natureza]}, e a NFS-e nada` }];
    if (stored === undefined) {
      return campo.isLater ? [] : [{ coluna, como: `a coluna está vazia, e a NFS-e traz ${UM[natureza]}` }];
    }
    if (isSame(campo, said, stored)) return [];
    return [{ coluna, como: `a coluna e a NFS-e trazem ${DOIS[natureza]}` }];
  });
}

const UM: Readonly<Record<Natureza, string>> = {
  documento: 'um CNPJ ou CPF',
  nome: 'um nome',
  identificador: 'um identificador',
  número: 'um número',
  código: 'um código',
  data: 'uma data',
  momento: 'um momento',
  valor: 'um valor',
};
const DOIS: Readonly<Record<Natureza, string>> = {
  documento: 'CNPJ ou CPF diferentes',
  nome: 'nomes diferentes',
  identificador: 'identificadores diferentes',
  número: 'números diferentes',
  código: 'códigos diferentes',
  data: 'datas diferentes',
  momento: 'momentos diferentes',
  valor: 'valores diferentes',
};
