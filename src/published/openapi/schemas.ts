/** The fields and shapes of answers as JSON schemas. */

import type { Json } from './described.ts';
import type { Field, Fields, Formato, Shape } from './field.ts';

export function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}

export function shapeSchema(shape: Shape): Json {
  if (shape === 'objeto') return { type: 'object' };
  if (shape === 'texto_ou_objeto') return { type: ['string', 'object'] };
  return objectSchema(shape);
}

export function objectSchema(fields: Fields): Json {
  const required = Object.entries(fields).flatMap(([name, { optional }]) => (optional ? [] : [name]));
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
    required,
  };
}

function fieldSchema({ type, about, nullable, values, formato }: Field): Json {
  const description = { description: about };
  const name = type.replace('[]', '');
  const plain = PLAIN_TYPES[name];
  const typeOf = (own: string): Json => ({ type: nullable ? [own, 'null'] : own });
  const one = plain === undefined ? { $ref: schemaRef(name) } : { type: plain };
  if (name !== type) return { ...description, ...typeOf('array'), items: one };
  if (plain === undefined) return { ...description, ...(nullable ? { oneOf: [one, { type: 'null' }] } : one) };
  const choice = values && { enum: nullable ? [...values, null] : values };
  return { ...description, ...typeOf(plain), ...(formato && FORMATS[formato]), ...choice };
}

/** The types of plain fields, as JSON Schema names them. */
const PLAIN_TYPES: Readonly<Record<string, string>> = { string: 'string', number: 'integer', boolean: 'boolean' };

const FORMATS: Readonly<Record<Formato, Json>> = {
  chave: { pattern: '^[0-9]{9}[0-9A-Z]{14}[0-9]{27}$' },
  decimal: { pattern: '^-?[0-9]+\\.[0-9]{2}$' },
  dia: { format: 'date' },
  dia_brasileiro: { pattern: '^[0-9]{2}/[0-9]{2}/[0-9]{4}$' },
  momento: { format: 'date-time' },
  momento_espacado: { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4}$' },
  endereco: { format: 'uri' },
  xml: { contentMediaType: 'application/xml' },
  codigo: { pattern: '^E[0-9]{3,4}$' },
};
