/** `nfse pendencia listar`: the matters that wait for the municipality. */

import { type Command, inMunicipio, JSON_OPTION, textOf } from '../../base/terminal/command.ts';
import { jsonText, printable } from '../../base/terminal/text.ts';
import { isTipo, listPendencias, TIPOS, TIPOS_DE_PENDENCIA, tellQuantas } from './pendencias.ts';

export const LISTAR_PENDENCIAS: Command = {
  name: 'pendencia listar',
  summary: 'Lista o que espera pela prefeitura: pedidos, rejeições, bloqueios, recusas e prazos.',
  options: {
    municipio: { takes: 'SLUG', help: 'município de que se quer saber' },
    tipo: { takes: 'TIPO', help: `só as deste tipo: ${TIPOS.join(', ')}` },
    ...JSON_OPTION,
  },
  run: (world, values) =>
    inMunicipio(world, values, 'de que município são as pendências', async (slug) => {
      const tipo = textOf(values, 'tipo');
      if (tipo !== undefined && !isTipo(tipo)) {
        world.err(`--tipo ${tipo} não é um tipo de pendência. Os que há: ${TIPOS.join(', ')}.\n`);
        return 2;
      }
      const found = await world.registry((registry) => listPendencias(registry, slug, { tipo }));
      if (values['json'] === true) {
        world.out(jsonText(found));
        return 0;
      }
      if (found.length === 0) world.out('Nada espera pela prefeitura.\n');
      for (const { tipo: one, quantas, pendencias } of found) {
        world.out(`${TIPOS_DE_PENDENCIA[one].nome}: ${tellQuantas(quantas)}\n`);
        for (const { desde, chave, oQue, responsavel } of pendencias) {
          const said = [desde, chave, oQue, responsavel && `cuida ${responsavel}`].filter((text) => text !== undefined);
          world.out(`  ${printable(said.join('  '))}\n`);
        }
      }
      return 0;
    }),
};
