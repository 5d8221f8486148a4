/** A part of the description, as it is written. */
export type Json = Readonly<Record<string, unknown>>;

/** A schema in JSON Schema 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown };
