/** All addresses of this subject, and the shapes of their answers. */
import type { Route } from '../../base/http/route.ts';
import type { Shape } from '../../published/openapi/field.ts';
import { EXPORTACAO_SHAPES, ROTAS_DE_EXPORTACOES } from './exportacoes.rest.ts';
import { LISTA_SHAPES } from './listas.rest.ts';
import { ROTAS_DA_PARTE } from './rotas.rest.ts';
import { TOKEN_FIELDS } from './tokens.rest.ts';

export const ROTAS: readonly Route[] = [...ROTAS_DA_PARTE, ...ROTAS_DE_EXPORTACOES];

export const SHAPES: Readonly<Record<string, Shape>> = { ...LISTA_SHAPES, Token: TOKEN_FIELDS, ...EXPORTACAO_SHAPES };
