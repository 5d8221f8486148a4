/**
 * The groups of the table of errors, in the order in which a request meets them. A code of rules belongs to the group of its first rule in
 * the layout; any other code to the group of its row.
 */
import { ASSINATURA } from '../../fiscal/errors/assinatura.ts';
import { EVENTOS } from '../../fiscal/errors/eventos.ts';
import type { PublicError } from '../../fiscal/errors/row.ts';
import { SERVICO } from '../../fiscal/errors/servico.ts';
import { INF_DPS } from '../../fiscal/layout/dps.ts';

export type ErrorGroup = { readonly id: string; readonly titulo: string };

type Heading = ErrorGroup & {
  /** Paths of the layout, each with all below it; the longest match decides. */
  readonly paths?: readonly string[];
};

const HEADINGS = [
  { id: 'requisicao', titulo: 'Requisição, cadastro e consulta' },
  { id: 'assinatura', titulo: 'Assinatura e certificado' },
  { id: 'estrutura', titulo: 'Estrutura do documento' },
  {
    id: 'identificacao',
    titulo: 'Identificação da DPS',
    paths: INF_DPS.flatMap((item) => (item.kind === 'leaf' ? [item.name] : [])),
  },
  { id: 'substituicao', titulo: 'Substituição de outra nota', paths: ['subst'] },
  { id: 'prestador', titulo: 'Prestador', paths: ['prest'] },
  { id: 'tomador', titulo: 'Tomador', paths: ['toma'] },
  { id: 'intermediario', titulo: 'Intermediário', paths: ['interm'] },
  { id: 'servico', titulo: 'Serviço e local da prestação', paths: ['serv'] },
  { id: 'comercio-exterior', titulo: 'Comércio exterior', paths: ['serv/comExt'] },
  { id: 'obra', titulo: 'Obra', paths: ['serv/obra'] },
  { id: 'evento', titulo: 'Atividade de evento', paths: ['serv/atvEvento'] },
  { id: 'complemento', titulo: 'Informações complementares', paths: ['serv/infoCompl'] },
  { id: 'valores', titulo: 'Valores, descontos e deduções', paths: ['valores'] },
  {
    id: 'issqn',
    titulo: 'ISSQN e município de incidência',
    paths: ['valores/trib/tribMun', 'NFSe/infNFSe/cLocIncid', 'NFSe/infNFSe/valores'],
  },
  { id: 'federais', titulo: 'Tributos federais', paths: ['valores/trib/tribFed'] },
  { id: 'total', titulo: 'Total aproximado dos tributos', paths: ['valores/trib/totTrib'] },
  { id: 'ibscbs', titulo: 'IBS e CBS', paths: ['IBSCBS'] },
  { id: 'imovel', titulo: 'Imóvel', paths: ['IBSCBS/imovel'] },
  { id: 'reembolso', titulo: 'Reembolso, repasse e ressarcimento', paths: ['IBSCBS/valores/gReeRepRes'] },
  { id: 'calculo', titulo: 'IBS e CBS declarados e o cálculo oficial', paths: ['NFSe/infNFSe/IBSCBS'] },
  { id: 'eventos', titulo: 'Eventos da nota: cancelamento, confirmação, rejeição, bloqueio' },
] as const satisfies readonly Heading[];

const REQUISICAO = codesOf(SERVICO);
const DE_ASSINATURA = codesOf(ASSINATURA);
/** The national rules of events, and the two codes that the specification gives to events alone. */
const DE_EVENTOS = new Set([...codesOf(EVENTOS), 'E302', 'E9016']);
/** Codes of any element, or of the document as a whole. Single rules may answer with them too. */
const ESTRUTURA = new Set([
  'E002',
  'E110',
  'E201',
  'E202',
  'E203',
  'E502',
  'E0001',
  'E0002',
  'E0003',
  'E0004',
  'E0010',
]);
/** Codes of this service about one place of the DPS. */
const PLACED = new Set(['E401', 'E402', 'E403', 'E404', 'E802']);

/** The groups with codes, in their order. The codes of a group keep the order of the table. */
export function groupsOf<Error extends PublicError>(
  errors: readonly Error[],
  fieldsOf: (error: Error) => readonly string[],
): readonly (ErrorGroup & { readonly errors: readonly Error[] })[] {
  const byHeading = Map.groupBy(errors, (error) => headingOf(error, fieldsOf(error)));
  return HEADINGS.flatMap(({ id, titulo }) => {
    const within = byHeading.get(id);
    return within === undefined ? [] : [{ id, titulo, errors: within }];
  });
}

function headingOf(error: PublicError, fields: readonly string[]): string {
  const { codigo, regras } = error;
  if (ESTRUTURA.has(codigo)) return 'estrutura';
  if (DE_EVENTOS.has(codigo)) return 'eventos';
  if (DE_ASSINATURA.has(codigo)) return 'assinatura';
  if (REQUISICAO.has(codigo) && !PLACED.has(codigo)) return 'requisicao';
  const [first] = [...(codigo in PLACES ? [PLACES[codigo]!] : []), ...regras.map(({ at }) => at), ...fields];
  return first === undefined ? 'estrutura' : headingAt(first);
}

/** The place of codes that no rule and no element names, or that elements of other groups share. */
const PLACES: Readonly<Record<string, string>> = {
  E0011: 'serv/obra',
  E0014: 'nDPS',
  E0191: 'toma',
  E0235: 'toma',
  E0382: 'serv/obra',
  E401: 'valores/vServPrest/vServ',
  E404: 'valores/trib/tribMun',
  E802: 'IBSCBS',
  E1515: 'IBSCBS',
};

function headingAt(path: string): string {
  let best: { readonly id: string; readonly length: number } = { id: 'estrutura', length: 0 };
  for (const heading of HEADINGS) {
    for (const prefix of 'paths' in heading ? heading.paths : []) {
      const isWithin = path === prefix || path.startsWith(`${prefix}/`);
      if (isWithin && prefix.length > best.length) best = { id: heading.id, length: prefix.length };
    }
  }
  return best.id;
}

function codesOf(rows: readonly { readonly codigo: string }[]): ReadonlySet<string> {
  return new Set(rows.map(({ codigo }) => codigo));
}
