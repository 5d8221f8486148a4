/**
 * The vocabulary for describing an answer: fields, and the shapes that answers share. The public description is made of them, and the tests
 * compare every answer with them. The fields of a shape stand in the module that makes the answer.
 */

/** The name of a shape that the door's `shapes.ts` collects. A test finds a name without a shape. */
export type ShapeName = Capitalize<string>;

/** The notation of a text, if it is guaranteed. */
export type Formato =
  | 'chave'
  | 'decimal'
  | 'dia'
  | 'dia_brasileiro'
  | 'momento'
  | 'momento_espacado'
  | 'endereco'
  | 'xml'
  | 'codigo';

export type Field = {
  /** `number` is an integer; amounts are texts (D-05). */
  readonly type: 'string' | 'string[]' | 'number' | 'number[]' | 'boolean' | ShapeName;
  readonly about: string;
  readonly nullable?: true;
  /** True: the field may be absent. */
  readonly optional?: true;
  /** All possible values. */
  readonly values?: readonly (string | number)[];
  readonly formato?: Formato;
};

export type Fields = Readonly<Record<string, Field>>;

/** The fields of an answer of this type: none is missing, and none is too many. */
export type FieldsOf<Answer> = Readonly<Record<keyof Answer, Field>>;

/** `objeto`: an object whose properties are not described. `texto_ou_objeto`: such an object, or a text. */
export type Shape = Fields | 'objeto' | 'texto_ou_objeto';

/** The kinds of fields; each makes a field from its description. */
export const field = {
  text: kindOf({ type: 'string' }),
  texts: kindOf({ type: 'string[]' }),
  flag: kindOf({ type: 'boolean' }),
  integer: kindOf({ type: 'number' }),
  amount: kindOf({ type: 'string', formato: 'decimal' }),
  day: kindOf({ type: 'string', formato: 'dia' }),
  moment: kindOf({ type: 'string', formato: 'momento' }),
  spacedMoment: kindOf({ type: 'string', formato: 'momento_espacado' }),
  address: kindOf({ type: 'string', formato: 'endereco' }),
  accessKey: kindOf({ type: 'string', formato: 'chave' }),
  errorCode: kindOf({ type: 'string', formato: 'codigo' }),
  /** A text from a closed list. */
  choice: (values: readonly string[], about: string): Field => ({ type: 'string', values, about }),
  /** An object of a shape that answers share, or a list of such objects. */
  shape: (type: ShapeName, about: string): Field => ({ type, about }),
} as const;

function kindOf(kind: Omit<Field, 'about'>): (about: string) => Field {
  return (about) => ({ ...kind, about });
}

export function orNull(one: Field): Field {
  return { ...one, nullable: true };
}

export function orAbsent(one: Field): Field {
  return { ...one, optional: true };
}

/** The field of every successful answer. */
export const STATUS = field.text('OK em toda resposta de sucesso.');
