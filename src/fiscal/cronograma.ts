/**
 * The first competence from which a note must carry the group of the IBS and the CBS. The schedule of the specification is a table here,
 * and is applied to a service and to a provider.
 *
 * The dates of layout 1.00 are absent: that layout issues nothing any more (E110, E111).
 */
import { servicos } from './catalogs/catalogs.ts';
import { once } from './catalogs/table.ts';
import { addDays, type Vigencia } from './moment.ts';

/** First competence that may carry the group: earlier ones have no IBS and no CBS (Anexo I, E0850). */
export const INICIO_IBSCBS = '2026-01-01';

type Segmento = 'geral' | 'prazo_proprio' | 'simples_nacional';

export type LinhaDoCronograma = {
  readonly segmento: Segmento;
  /** The services or providers concerned, in Portuguese. */
  readonly descricao: string;
  /** Subitems of LC 116 that the line names, `01.03`. */
  readonly subitens: readonly string[];
  /** First competence with the group, `YYYY-MM-DD`. */
  readonly desde: string;
  readonly origem: string;
};

const ORIGEM = 'Especificação, IBS/CBS obligation schedule';

const GERAL: LinhaDoCronograma = {
  segmento: 'geral',
  descricao: 'serviços da lista da LC 116/2003 em geral',
  subitens: [],
  desde: '2026-10-01',
  origem: ORIGEM,
};

/**
 * Leases, condominium, intangible goods and digital platforms are operations outside the list of LC 116. Item 99 of the national list has
 * their codes. If one of them is a service of the list, the line names its subitem.
 */
const PRAZO_PROPRIO: LinhaDoCronograma = {
  segmento: 'prazo_proprio',
  descricao:
    'subitens 1.03, 1.05, 1.09 e 16.01, locações, condomínios, bens imateriais, plataformas digitais e serviços fora da lista da LC 116/2003',
  subitens: ['01.03', '01.05', '01.09', '16.01'],
  desde: '2026-12-01',
  origem: ORIGEM,
};

const SIMPLES: LinhaDoCronograma = {
  segmento: 'simples_nacional',
  descricao: 'prestadores optantes pelo Simples Nacional, MEI incluído',
  subitens: [],
  desde: '2027-01-01',
  origem: ORIGEM,
};

/** The schedule, by date. A later rule is one more line. */
export const CRONOGRAMA: readonly LinhaDoCronograma[] = [GERAL, PRAZO_PROPRIO, SIMPLES];

/** Item 99 exists in the national list only: operations that LC 116 does not have. */
const ITEM_FORA_DA_LC116 = '99';

/** First four digits of a `cTribNac`, for each subitem of LC 116 that exists. */
const SUBITENS = once(
  () =>
    new Set(
      servicos()
        .filter(({ item, subitem }) => subitem !== undefined && item !== ITEM_FORA_DA_LC116)
        .map(({ codigo }) => codigo.slice(0, 4)),
    ),
);

const COM_PRAZO_PROPRIO: ReadonlySet<string> = new Set(
  PRAZO_PROPRIO.subitens.map((subitem) => subitem.replace('.', '')),
);

/**
 * The line of the schedule for a service of a provider. `optante`: in the Simples Nacional at the competence by the registry (`isOptante`),
 * whether or not the DPS says so.
 */
export function linhaDe(cTribNac: string, optante: boolean): LinhaDoCronograma {
  if (optante) return SIMPLES;
  const subitem = cTribNac.slice(0, 4);
  return SUBITENS().has(subitem) && !COM_PRAZO_PROPRIO.has(subitem) ? GERAL : PRAZO_PROPRIO;
}

/** Why that line applies, in Portuguese: the end of a sentence that begins with the date. */
export function motivoDe(cTribNac: string, optante: boolean): string {
  if (optante) return 'o prestador é optante do Simples Nacional na competência, segundo o cadastro do município';
  const subitem = cTribNac.slice(0, 4);
  if (cTribNac.startsWith(ITEM_FORA_DA_LC116)) return `o cTribNac ${cTribNac} está fora da lista da LC 116/2003`;
  if (!SUBITENS().has(subitem)) {
    return `o cTribNac ${cTribNac} não identifica um subitem da LC 116/2003, e então vale a data posterior`;
  }
  const nome = `o cTribNac ${cTribNac} é do subitem ${Number(subitem.slice(0, 2))}.${subitem.slice(2)} da LC 116/2003`;
  return COM_PRAZO_PROPRIO.has(subitem) ? `${nome}, que tem data própria` : `${nome}, da data geral`;
}

/** When one provider owes the group, for the services of one segment. */
export type ObrigacaoDoPrestador = {
  readonly segmento: Exclude<Segmento, 'simples_nacional'>;
  readonly descricao: string;
  readonly subitens: readonly string[];
  /** First competence with the group, in the period that contains `hoje`, or else in the next one. */
  readonly desde: string;
  readonly devidoHoje: boolean;
  /** All competences with the group, in order, the last without an end. A period in the Simples Nacional may interrupt them until 2027. */
  readonly trechos: readonly Vigencia[];
};

/**
 * The competences from which a provider owes the group, for each segment of services. The status at each competence decides. A provider
 * that leaves the Simples Nacional owes it from the next day. A provider that enters the Simples Nacional owes it again only from the date
 * of the Simples.
 */
export function obrigacoes(simples: readonly Vigencia[], hoje: string): readonly ObrigacaoDoPrestador[] {
  return [GERAL, PRAZO_PROPRIO].map(({ segmento, descricao, subitens, desde }) => {
    const trechos = trechosDesde(desde, simples);
    const atual = trechos.find(({ fim }) => fim === undefined || hoje <= fim)!;
    return {
      segmento: segmento as ObrigacaoDoPrestador['segmento'],
      descricao,
      subitens,
      desde: atual.inicio,
      devidoHoje: atual.inicio <= hoje,
      trechos,
    };
  });
}

/** The periods from a day on, without those in the Simples Nacional before the date of the Simples. */
function trechosDesde(desde: string, simples: readonly Vigencia[]): readonly Vigencia[] {
  const trechos: Vigencia[] = [];
  let inicio = desde;
  for (const periodo of simples.toSorted((a, b) => (a.inicio < b.inicio ? -1 : 1))) {
    if (periodo.inicio >= SIMPLES.desde || inicio >= SIMPLES.desde) break;
    if (periodo.fim !== undefined && periodo.fim < inicio) continue;
    if (periodo.inicio > inicio) trechos.push({ inicio, fim: addDays(periodo.inicio, -1) });
    const depois = periodo.fim === undefined ? SIMPLES.desde : addDays(periodo.fim, 1);
    inicio = depois < SIMPLES.desde ? depois : SIMPLES.desde;
  }
  return [...trechos, { inicio, fim: undefined }];
}
