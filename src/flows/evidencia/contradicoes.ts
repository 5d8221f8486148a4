/**
 * What a bundle says of its note at first sight, out of the documents themselves and not of the columns beside them; and where the NFS-e, what the
 * provider declared and the database do not say the same (D-763).
 */
import { infNfseOf, readOwnNote } from '../../documents/own-note.ts';
import { formatDecimal, parseDecimal } from '../../fiscal/decimal.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { attributeOf } from '../../fiscal/layout/tree.ts';
import type { Municipio } from '../../store/municipios.ts';
import type { NotaRow } from '../../store/nota-columns.ts';
import { isJson, openDps } from '../sent-documents.ts';

type Leitura = (path: string) => string | undefined;

/** One thing that all three say: how the NFS-e, the DPS and the row have it; undefined or null: that one does not. */
type Campo = {
  readonly oQue: string;
  readonly nota: (ler: Leitura) => string | undefined;
  readonly dps?: (dps: Dps) => string | undefined;
  readonly linha: (row: NotaRow) => string | null;
};

const DPS = 'DPS/infDPS';
const first = (ler: Leitura, ...paths: readonly string[]): string | undefined => {
  for (const path of paths) {
    const text = ler(path);
    if (text !== undefined) return text;
  }
  return undefined;
};

const CAMPOS: readonly Campo[] = [
  {
    oQue: 'CNPJ ou CPF do prestador',
    nota: (ler) => first(ler, 'emit/CNPJ', 'emit/CPF'),
    dps: ({ prest }) => prest.CNPJ ?? prest.CPF,
    linha: (row) => row.prestador_cpf_cnpj,
  },
  {
    oQue: 'CNPJ ou CPF do tomador',
    nota: (ler) => first(ler, `${DPS}/toma/CNPJ`, `${DPS}/toma/CPF`),
    dps: ({ toma }) => toma?.CNPJ ?? toma?.CPF,
    linha: (row) => row.tomador_cpf_cnpj,
  },
  {
    oQue: 'CNPJ ou CPF do intermediário',
    nota: (ler) => first(ler, `${DPS}/interm/CNPJ`, `${DPS}/interm/CPF`),
    dps: ({ interm }) => interm?.CNPJ ?? interm?.CPF,
    linha: (row) => row.intermediario_cpf_cnpj,
  },
  { oQue: 'número da NFS-e', nota: (ler) => ler('nNFSe'), linha: (row) => row.numero_dps },
  {
    oQue: 'série da DPS',
    nota: (ler) => ler(`${DPS}/serie`),
    dps: ({ serie }) => serie,
    linha: (row) => row.serie_dps,
  },
  {
    oQue: 'número da DPS',
    nota: (ler) => ler(`${DPS}/nDPS`),
    dps: ({ nDPS }) => nDPS,
    linha: (row) => row.numero_dps_nacional,
  },
  {
    oQue: 'competência',
    nota: (ler) => ler(`${DPS}/dCompet`),
    dps: ({ dCompet }) => dCompet,
    linha: (row) => row.data_competencia,
  },
  {
    oQue: 'código do serviço',
    nota: (ler) => ler(`${DPS}/serv/cServ/cTribNac`),
    dps: ({ serv }) => serv.cServ.cTribNac,
    linha: (row) => row.servico,
  },
  {
    oQue: 'nota substituída',
    nota: (ler) => ler(`${DPS}/subst/chSubstda`),
    dps: ({ subst }) => subst?.chSubstda,
    linha: (row) => row.substitui,
  },
  {
    oQue: 'valor do serviço',
    nota: (ler) => ler(`${DPS}/valores/vServPrest/vServ`),
    dps: ({ valores }) => formatDecimal(valores.vServPrest.vServ),
    linha: (row) => row.valor_servico,
  },
  { oQue: 'base de cálculo do ISSQN', nota: (ler) => ler('valores/vBC'), linha: (row) => row.valor_base_calculo },
  { oQue: 'alíquota do ISSQN', nota: (ler) => ler('valores/pAliqAplic'), linha: (row) => row.aliquota_issqn },
  { oQue: 'valor do ISSQN', nota: (ler) => ler('valores/vISSQN'), linha: (row) => row.valor_issqn },
];

/** Differently written amounts are one amount; leading zeros of a number are none. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [parseDecimal(one), parseDecimal(other)];
  return a !== undefined && a === b;
}

/** What the provider declared, read as it was when the note was issued; undefined: it does not read today. */
function declared(municipio: Municipio, recebido: Buffer): Dps | undefined {
  const kind = isJson(recebido) ? ('json' as const) : ('rps' as const);
  const opened = openDps({ kind, body: recebido, assinatura: undefined }, municipio);
  if ('faults' in opened) return undefined;
  const read = opened.read();
  return 'faults' in read ? undefined : read.dps;
}

/** Each in a sentence, in Portuguese; none: all that is compared is the same. */
export function contradicoesOf(municipio: Municipio, row: NotaRow, recebido: Buffer): readonly string[] {
  const nfse = Buffer.from(row.nfse);
  const ler = readOwnNote(nfse);
  const dps = declared(municipio, recebido);
  const found: string[] = [];
  const tell = (oQue: string, nota: string, other: string, where: string): void => {
    if (!isSame(nota, other)) found.push(`${oQue}: ${nota} na NFS-e, e ${other} ${where}`);
  };
  const chave = attributeOf(infNfseOf(nfse), 'Id')?.slice('NFS'.length);
  if (chave !== undefined) tell('chave de acesso', chave, row.chave_acesso, IN_ROW);
  for (const { oQue, nota, dps: ofDps, linha } of CAMPOS) {
    const said = nota(ler);
    const stored = linha(row);
    const wanted = dps && ofDps?.(dps);
    if (said !== undefined && stored !== null) tell(oQue, said, stored, IN_ROW);
    if (said !== undefined && wanted !== undefined) tell(oQue, said, wanted, 'no que o prestador declarou');
  }
  return found;
}

const IN_ROW = 'na linha do banco';

/** Name and number of a party, as the NFS-e has them; undefined: it names none. */
export function parteOf(nfse: Uint8Array, path: string): string | undefined {
  const ler = readOwnNote(nfse);
  const said = [ler(`${path}/xNome`), first(ler, `${path}/CNPJ`, `${path}/CPF`, `${path}/NIF`)].filter(Boolean);
  return said.length === 0 ? undefined : said.join(', ');
}
