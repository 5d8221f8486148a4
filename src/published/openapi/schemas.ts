/** The fields and shapes of answers as JSON schemas. */

import type { Json } from './described.ts';
import type { Field, Fields, Formato, Shape, ShapeName } from './field.ts';

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
  const form = { ...(formato && FORMATS[formato]), ...(values && { enum: nullable ? [...values, null] : values }) };
  switch (type) {
    case 'string':
      return { ...description, type: nullable ? ['string', 'null'] : 'string', ...form };
    case 'number':
      return { ...description, type: nullable ? ['integer', 'null'] : 'integer', ...form };
    case 'boolean':
      return { ...description, type: nullable ? ['boolean', 'null'] : 'boolean' };
    case 'string[]':
    case 'number[]': {
      const items = { type: type === 'string[]' ? 'string' : 'integer' };
      return { ...description, type: nullable ? ['array', 'null'] : 'array', items };
    }
  }
  if (type.endsWith('[]')) {
    const items = { $ref: schemaRef(type.slice(0, -'[]'.length)) };
    return { ...description, type: nullable ? ['array', 'null'] : 'array', items };
  }
  const $ref = schemaRef(type satisfies string as ShapeName);
  return nullable ? { ...description, oneOf: [{ $ref }, { type: 'null' }] } : { ...description, $ref };
}

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
