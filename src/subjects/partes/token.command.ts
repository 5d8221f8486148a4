/** `nfse token …`: lists and ends the tokens that give access to the data of a CNPJ or CPF. */

import {
  askedWrongly,
  byHand,
  type CliWorld,
  type Command,
  JSON_OPTION,
  refuseAsked,
  textOf,
  type Values,
  withMotivo,
} from '../../base/terminal/command.ts';
import { jsonText, tableLines } from '../../base/terminal/text.ts';
import { maskDocumento, whyNoDocumento } from '../../fiscal/chave.ts';
import { listTokensDoMunicipio, revokeTokenByHand, TOKEN_POR, TOKENS_MAX, type TokenDoMunicipio } from './tokens.ts';

export const TOKEN_COMMANDS: readonly Command[] = [
  {
    name: 'token listar',
    arguments: 'SLUG',
    summary: 'Lista os tokens em vigor de um município, do mais novo ao mais antigo. O token em si não se guarda.',
    options: { documento: { takes: 'DOCUMENTO', help: 'só os deste CNPJ ou CPF' }, ...JSON_OPTION },
    run: listar,
  },
  {
    name: 'token revogar',
    arguments: 'SLUG ID',
    summary: 'Revoga um token: em segundos ninguém mais entra com ele. ID é o da lista.',
    options: { motivo: { takes: 'TEXTO', help: 'por quê (obrigatório); fica no histórico do município' } },
    run: async (world, values, [slug, id]) =>
      withMotivo(world, values, () =>
        world.registry(async (registry) => {
          const revoked = await revokeTokenByHand(registry, slug!, id!, byHand(values));
          if ('problem' in revoked) return refuseAsked(world, revoked.problem);
          world.out(`O token ${revoked.id}, de ${maskDocumento(revoked.documento)}, foi revogado.\n`);
          return 0;
        }),
      ),
  },
];

async function listar(world: CliWorld, values: Values, [slug]: readonly string[]): Promise<number> {
  const documento = textOf(values, 'documento');
  const problem = documento === undefined ? undefined : whyNoDocumento(documento);
  if (problem !== undefined) return askedWrongly(world, `O documento indicado ${problem}.\n`);
  return world.registry(async (registry) => {
    const tokens = await listTokensDoMunicipio(registry, slug!, documento);
    if (values['json'] === true) world.out(jsonText(tokens));
    else if (tokens.length === 0) world.err('Nenhum token em vigor.\n');
    else {
      const head = ['id', 'documento', 'escopos', 'criado', 'expira', 'dado por'];
      world.out(`${tableLines([head, ...tokens.map(rowOf)], world.columns).join('\n')}\n`);
    }
    if (tokens.length === TOKENS_MAX) world.err(`São os ${TOKENS_MAX} mais novos; --documento mostra os outros.\n`);
    return 0;
  });
}

function rowOf({ id, documento, escopos, criado_em, expira_em, por }: TokenDoMunicipio): readonly string[] {
  return [id, maskDocumento(documento), escopos.join(', '), dayOf(criado_em), dayOf(expira_em), TOKEN_POR[por]];
}

const dayOf = (iso: string): string => iso.slice(0, 10);
