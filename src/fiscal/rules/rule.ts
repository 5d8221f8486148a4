/** The type of a rule: one unit of the law. The refusal, its page, its tests and its place in OpenAPI come from it. */
import type { IssqnAmounts } from '../assess.ts';
import type { Declarado } from '../declarado.ts';
import type { Facts } from '../facts.ts';
import type { IbsCbsAmounts } from '../ibscbs.ts';
import type { Dps, DpsPath } from '../layout/dps.ts';
import type { NfsePath } from '../layout/nfse.ts';
import { answerOf } from '../unknown.ts';
import type { Inputs } from './inputs.ts';

/**
 * A patch on the one valid DPS of `example.ts`: a path and its text; null removes the element with all its content. A leading `+` adds an
 * element that the layout does not have, at the end of its parent. A leading `=` sets a property that only the JSON body has, by its path
 * there (`=ibscbs.total_cbs`); such an example has no XML.
 */
export type Patch = Readonly<{ [path in DpsPath | `+${string}` | `=${string}` | '@Id' | '@versao']?: string | null }>;

/** The inputs of a rule: the document, the facts, and the amounts that a JSON body declared. */
type Seen = [dps: Dps, facts: Facts, declarado: Declarado];

/** The place of a rule: in the DPS, or in the note that it becomes. */
type RulePath = DpsPath | `NFSe/infNFSe/${NfsePath}`;

/**
 * `nacional`: a rule that the specification does not name (D-86): it refuses in production, and in the sandbox it is a remark that says so.
 * `aviso`: it never refuses. Absent: the specification names it, and it refuses everywhere.
 */
export type RuleScope = 'nacional' | 'aviso';

type Head = {
  readonly code: string;
  readonly at: RulePath;
  /** One line without a full stop: the title of the code. The first of several rules with one code provides it. */
  readonly title?: string;
  /** The remedy in Portuguese, for the page of the code: the necessary change, not the error. */
  readonly mend?: string;
  readonly scope?: RuleScope;
  /** The national schema does not allow the refused value, so production refuses it regardless of the municipality's choice (D-192). */
  readonly esquema?: true;
  /** The source of the rule: specification or national annex. */
  readonly origin: string;
  readonly why: string;
  readonly expected?: string;
  readonly rejects: readonly Patch[];
  readonly accepts: readonly Patch[];
  /** Its examples are of a municipality that keeps the registers of `example-cadastros.ts`. */
  readonly given?: 'cadastros';
  /** Codes that its rejected examples inevitably break as well. */
  readonly also?: readonly string[];
  /** The national meaning of the same number, if it differs (D-13). */
  readonly national?: string;
};

/** Code, scope and origin of a rule that only the national annex has. `besides`: a further legal basis. */
export function annexHead(code: string, besides?: string) {
  const origin = `Anexo I, ${code}${besides === undefined ? '' : `; ${besides}`}`;
  return { code, scope: 'nacional', origin } as const;
}

/** The functions of a rule, over its inputs. */
type Judging<Of extends readonly unknown[]> = {
  /** The error and its remedy, in Portuguese. */
  readonly message: string | ((...seen: Of) => string);
  /** The condition of the rule. Absent: the rule always applies. */
  readonly when?: (...seen: Of) => boolean;
  /** The required property. */
  readonly must: (...seen: Of) => boolean;
  readonly found?: (...seen: Of) => string | undefined;
};

/** A part that may be absent, and the functions that are asked with it. */
type OverPart<Of extends readonly unknown[]> = {
  readonly find: (...seen: Of) => unknown;
  readonly when: ((part: unknown, ...seen: Of) => boolean) | undefined;
  readonly must: (part: unknown, ...seen: Of) => boolean;
};

export type Rule = Head &
  Judging<Seen> & {
    /** The documents that the rules of its part apply to: see {@link ofPart}. */
    readonly part?: (...seen: Seen) => boolean;
    /** The same condition and property over the part of the rule, if it has one; `whenPresent` sets it. */
    readonly about?: OverPart<Seen> | undefined;
    /** Every breach in a repeated group. `forEach` makes this function. */
    readonly breaches?: (...seen: Seen) => readonly Breach[];
  };

/** A group in which fields are present. */
export type Having<Group, Name extends keyof Group> = Group & { readonly [name in Name]-?: NonNullable<Group[name]> };

/** Whether a group has a field. */
export function has<Group extends object, Name extends keyof Group>(
  group: Group | undefined,
  name: Name,
): group is Having<Group, Name> {
  return group?.[name] !== undefined;
}

/** Rules of an optional part of a document: consecutive rules check its presence once. */
export function ofPart(part: NonNullable<Rule['part']>, rules: readonly Rule[]): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, part }));
}

/** One breach in a repeated group; `at` carries `[n]`, from 1. */
export type Breach = { readonly at: string; readonly mensagem: string; readonly encontrado: string | undefined };

type Of<Item> = [item: Item, ...seen: Seen];

/** A rule for each member of a repeated group. */
export type ItemRule<Item> = Head & Judging<Of<Item>> & { readonly at: DpsPath };

/**
 * A rule about each member of a repeated group: one fault for each member that breaks it, at its own place. `list`: the path of the group,
 * with which `at` begins.
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
    // A part of a member is none of the document.
    about: undefined,
    message: typeof message === 'string' ? message : rule.why,
    must: (...seen) => !(items(seen[0])?.some((item) => breaks(item, seen)) ?? false),
    // A member with unknown values does not prevent the others from being judged.
    breaches: (...seen) => {
      const all = items(seen[0]) ?? [];
      return [...all.keys()].flatMap((place) => answerOf(() => breachAt(all[place]!, place, seen))?.answer ?? []);
    },
  };
}

/** The functions of a rule about computed amounts. */
export type JudgingAmounts<Of extends readonly unknown[]> = Judging<Of> & {
  /** The computed value for `esperado`, if the sender declared one. */
  readonly calculated?: (...seen: Of) => string | undefined;
  /** Declared and expected value side by side, for `detalhes`. */
  readonly details?: (...seen: Of) => string | undefined;
};

/** A rule about the computed ISSQN: judged after all the others hold. */
export type AmountRule = Head &
  JudgingAmounts<[amounts: IssqnAmounts, ...seen: Seen]> & {
    /** The inputs of the rule: while no rule has a fault there, the rule is judged even for a document that others refuse. */
    readonly from?: Inputs;
  };

/** The inputs of a rule that is judged again for a note that waited for a rate: the rates are the only facts. */
type SeenLast = [dps: Dps, facts: Pick<Facts, 'tabelaIbsCbs'>, declarado: Declarado];

/** A rule about the IBS and CBS that a JSON body declared: judged last, against the official calculation. */
export type IbsCbsRule = Head &
  JudgingAmounts<[ibscbs: IbsCbsAmounts, ...seen: SeenLast]> & {
    /** The rule depends on no rate, so it is judged even while none is published. */
    readonly isOfBase?: true;
    /** The inputs, as in {@link AmountRule}. */
    readonly from: Inputs;
  };

export type AnyRule = Rule | AmountRule | IbsCbsRule;

/** The inputs of a kind of rule. */
type SeenBy<Kind> = Kind extends { readonly must: (...seen: infer Of extends readonly unknown[]) => boolean }
  ? Of
  : never;

/** A rule of a kind whose functions get a part before its inputs. */
type PartRule<Part, Kind> = Omit<Kind, keyof JudgingAmounts<[]> | 'part' | 'about' | 'breaches'> &
  JudgingAmounts<[part: Part, ...seen: SeenBy<Kind>]>;

/** A function of a rule of any kind. */
type Ask<Answer> = (...seen: unknown[]) => Answer;

/**
 * A rule about a part that may be absent: it applies where `find` finds the part, and its functions get the part first. So none of them
 * asserts that it is there.
 */
export function whenPresent<Part, Kind extends Head = Rule>(
  find: (...seen: SeenBy<Kind>) => Part | undefined,
  rule: PartRule<Part, Kind>,
): Kind {
  const look = find as unknown as Ask<unknown>;
  const { when, must, message, found, calculated, details, ...head } = rule as unknown as AnyKind;
  // The inputs have names: gathered ones would be a new list for every rule and note.
  const tell =
    <Answer>(told: Ask<Answer>): Ask<Answer> =>
    (a, b, c, d) =>
      told(look(a, b, c, d), a, b, c, d);
  const all: AnyKind & { readonly about: OverPart<unknown[]> } = {
    ...head,
    about: { find: look, when, must },
    message: typeof message === 'string' ? message : tell(message),
    must: (a, b, c, d) => {
      const part = look(a, b, c, d);
      return part === undefined || when?.(part, a, b, c, d) === false || must(part, a, b, c, d);
    },
    ...(found && { found: tell(found) }),
    ...(calculated && { calculated: tell(calculated) }),
    ...(details && { details: tell(details) }),
  };
  return all as unknown as Kind;
}

type AnyKind = Head & JudgingAmounts<unknown[]>;
