/**
 * What a rule is: one unit of the law, from which come the refusal, its page, its tests and its place in OpenAPI.
 */
import type { IssqnAmounts } from '../assess.ts';
import type { Declarado } from '../declarado.ts';
import type { Facts } from '../facts.ts';
import type { IbsCbsAmounts } from '../ibscbs.ts';
import type { Dps, DpsPath } from '../layout/dps.ts';
import type { NfsePath } from '../layout/nfse.ts';
import { answerOf } from '../unknown.ts';
import type { Inputs } from './inputs.ts';

/**
 * A patch on the one valid DPS of `example.ts`: a path and its text, null to take the element (and all inside) away;
 * with a leading `+` an element that the layout does not have, put at the end of its parent; with a leading `=` a property
 * that only the JSON body has, by its path there (`=ibscbs.total_cbs`), so that the example has no XML.
 */
export type Patch = Readonly<{ [path in DpsPath | `+${string}` | `=${string}` | '@Id' | '@versao']?: string | null }>;

type Told<Of extends readonly unknown[]> = string | ((...seen: Of) => string);

/** What a rule sees: the document, what must be known besides, and what a JSON body declared of the amounts. */
type Seen = [dps: Dps, facts: Facts, declarado: Declarado];

/** Where a rule stands: in the DPS, or in the note that it becomes. */
type RulePath = DpsPath | `NFSe/infNFSe/${NfsePath}`;

/**
 * `nacional`: a rule that the specification does not name (D-86): it refuses in production, and in the sandbox it is a remark
 * that says so. `aviso`: it never refuses. Absent: the specification names it, and it refuses everywhere.
 */
type RuleScope = 'nacional' | 'aviso';

type Head = {
  readonly code: string;
  readonly at: RulePath;
  /** One line without a full stop: the title of the code. Of several rules with one code the first tells it. */
  readonly title?: string;
  /** How to mend it, in Portuguese, for the page of the code: what to change, not what is wrong. */
  readonly mend?: string;
  readonly scope?: RuleScope;
  /** The national schema has no text for what it refuses, so that production does, whatever the municipality chose (D-192). */
  readonly esquema?: true;
  /** Where the rule stands: specification or national annex. */
  readonly origin: string;
  readonly why: string;
  readonly expected?: string;
  readonly rejects: readonly Patch[];
  readonly accepts: readonly Patch[];
  /** Its examples are of a municipality that keeps the registers of `example-cadastros.ts`. */
  readonly given?: 'cadastros';
  /** Codes that its rejected examples break as well, by nature. */
  readonly also?: readonly string[];
  /** What the same number means nationally, where it is something else (D-85). */
  readonly national?: string;
};

/** Code, scope and origin of a rule that the national annex alone has. `besides`: what else it stands on. */
export function annexHead(code: string, besides?: string) {
  const origin = `Anexo I, ${code}${besides === undefined ? '' : `; ${besides}`}`;
  return { code, scope: 'nacional', origin } as const;
}

export type Rule = Head & {
  /** What is wrong and how to mend it, in Portuguese. */
  readonly message: Told<Seen>;
  /** Of which documents the rules of its part speak: see {@link ofPart}. */
  readonly part?: (...seen: Seen) => boolean;
  /** Whom it concerns among these. Absent: everybody. */
  readonly when?: (...seen: Seen) => boolean;
  /** What holds. */
  readonly must: (...seen: Seen) => boolean;
  readonly found?: (...seen: Seen) => string | undefined;
  /** Where one rule speaks of a repeated group: every breach of it. Made by `forEach`. */
  readonly breaches?: (...seen: Seen) => readonly Breach[];
};

/** Rules of a part that not every document has: whether it is there is asked once for all that stand together. */
export function ofPart(part: NonNullable<Rule['part']>, rules: readonly Rule[]): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, part }));
}

/** One breach in a repeated group; `at` carries `[n]`, from 1. */
export type Breach = { readonly at: string; readonly mensagem: string; readonly encontrado: string | undefined };

type Of<Item> = [item: Item, ...seen: Seen];

/** What is asked of each member of a repeated group. */
export type ItemRule<Item> = Head & {
  readonly at: DpsPath;
  readonly message: Told<Of<Item>>;
  readonly when?: (...seen: Of<Item>) => boolean;
  readonly must: (...seen: Of<Item>) => boolean;
  readonly found?: (...seen: Of<Item>) => string | undefined;
};

/**
 * A rule about each member of a repeated group: as many faults as members that break it, each at its own place. `list`: the path of the
 * group, with which `at` begins.
 */
export function forEach<Item>(
  list: DpsPath,
  items: (dps: Dps) => readonly Item[] | undefined,
  rule: ItemRule<Item>,
): Rule {
  const { when, must, found, message, ...head } = rule;
  const below = rule.at.slice(list.length);
  const breaks = (item: Item, seen: Seen): boolean =>
    (when === undefined || when(item, ...seen)) && !must(item, ...seen);
  const breachAt = (item: Item, place: number, seen: Seen): readonly Breach[] =>
    breaks(item, seen)
      ? [
          {
            at: `${list}[${place + 1}]${below}`,
            mensagem: typeof message === 'string' ? message : message(item, ...seen),
            encontrado: found?.(item, ...seen),
          },
        ]
      : [];
  return {
    ...head,
    message: typeof message === 'string' ? message : rule.why,
    must: (...seen) => !(items(seen[0])?.some((item) => breaks(item, seen)) ?? false),
    // A member of which something is not known leaves the others to be judged.
    breaches: (...seen) => {
      const all = items(seen[0]) ?? [];
      return [...all.keys()].flatMap((place) => answerOf(() => breachAt(all[place]!, place, seen))?.answer ?? []);
    },
  };
}

/** A rule about what was computed for the ISSQN: judged after all the others hold. */
export type AmountRule = Head & {
  readonly message: Told<[amounts: IssqnAmounts, ...seen: Seen]>;
  readonly when?: (amounts: IssqnAmounts, ...seen: Seen) => boolean;
  readonly must: (amounts: IssqnAmounts, ...seen: Seen) => boolean;
  readonly found?: (amounts: IssqnAmounts, ...seen: Seen) => string | undefined;
  /** What was computed, for `esperado`, where the sender declared it. */
  readonly calculated?: (amounts: IssqnAmounts) => string | undefined;
  /** What it is judged from: while no rule has a fault there, it can be said of a document that others refuse. */
  readonly from?: Inputs;
};

/** What is judged once more of a note that waited for a rate: of the facts there are the rates alone. */
type SeenLast = [dps: Dps, facts: Pick<Facts, 'tabelaIbsCbs'>, declarado: Declarado];

/** A rule about what a JSON body declared of the IBS and the CBS: judged last, beside the official calculation. */
export type IbsCbsRule = Head & {
  readonly message: Told<[ibscbs: IbsCbsAmounts, ...seen: SeenLast]>;
  readonly when?: (ibscbs: IbsCbsAmounts, ...seen: SeenLast) => boolean;
  readonly must: (ibscbs: IbsCbsAmounts, ...seen: SeenLast) => boolean;
  readonly found?: (ibscbs: IbsCbsAmounts, ...seen: SeenLast) => string | undefined;
  /** It hangs on no rate, so that it is judged also while none is published. */
  readonly isOfBase?: true;
  /** What the official calculation gives, for `esperado`. */
  readonly calculated?: (ibscbs: IbsCbsAmounts) => string | undefined;
  /** Declared and expected value side by side, for `detalhes`. */
  readonly details?: (ibscbs: IbsCbsAmounts, declarado: Declarado) => string | undefined;
  /** As in {@link AmountRule}. */
  readonly from: Inputs;
};

export type AnyRule = Rule | AmountRule | IbsCbsRule;
