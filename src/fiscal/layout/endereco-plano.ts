/** An address abroad whose fields stand beside the others, although the body has a separate group for them, `exterior`. */
import type { JsonMember, JsonValue } from './json-value.ts';

/** The fields of `exterior`, and their usual names. */
const NOMES = {
  codigo_pais: ['codigo_pais', 'pais', 'c_pais', 'cod_pais', 'sigla_pais', 'pais_codigo', 'country'],
  codigo_postal: [
    'codigo_postal',
    'c_end_post',
    'cep_exterior',
    'codigo_enderecamento_postal',
    'codigo_postal_exterior',
    'zip',
    'zip_code',
  ],
  cidade: ['cidade', 'x_cidade', 'nome_cidade', 'cidade_exterior', 'municipio', 'nome_municipio', 'city'],
  estado_provincia_regiao: [
    'estado_provincia_regiao',
    'x_est_prov_reg',
    'estado',
    'provincia',
    'regiao',
    'estado_provincia',
    'estado_exterior',
    'uf',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const MEANT: ReadonlyMap<string, string> = new Map(
  Object.entries(NOMES).flatMap(([right, nomes]) => nomes.map((nome) => [nome, right] as const)),
);

/** The field of `exterior` that a name in snake case means. */
export function nameAbroad(snake: string): string | undefined {
  return MEANT.get(snake);
}

const BRAZIL: ReadonlySet<string> = new Set(['BR', 'BRA', 'BRASIL', '1058', '076', '55']);

/** Whether a property says that the address is in Brazil, for which the body has no property. */
export function saysBrazil(snake: string, value: JsonValue): boolean {
  return MEANT.get(snake) === 'codigo_pais' && BRAZIL.has(textOf(value).trim().toUpperCase());
}

/** Whether the properties of an address mean a place abroad: a country that is not Brazil, or a postal code that is no CEP. */
export function isAbroad(members: readonly JsonMember[], snakeOf: (name: string) => string): boolean {
  return members.some(({ name, value }) => {
    const snake = snakeOf(name);
    const right = MEANT.get(snake);
    return (right === 'codigo_pais' && textOf(value) !== '' && !saysBrazil(snake, value)) || right === 'codigo_postal';
  });
}

function textOf(value: JsonValue): string {
  return value.kind === 'string' || value.kind === 'number' ? value.text : '';
}
