/** `nfse municipio brasao`: the arms of a municipality by a file of this machine. */
import { askedWrongly, byHand, bytesOf, type Command, refuseAsked, textOf } from '../../base/terminal/command.ts';
import { removeBrasao, sendBrasao } from '../../base/world/brasoes.ts';

export const BRASAO_COMMAND: Command = {
  name: 'municipio brasao',
  arguments: 'SLUG',
  summary: 'Põe ou retira o brasão de um município, que aparece no console e nas páginas públicas dele.',
  options: {
    arquivo: { takes: 'ARQUIVO', help: 'a imagem, PNG ou JPEG' },
    retirar: { help: 'retira o brasão' },
    motivo: { takes: 'TEXTO', help: 'por quê; fica no histórico' },
  },
  run: async (world, values, [slug]) => {
    const file = textOf(values, 'arquivo');
    const isRemoval = values['retirar'] === true;
    if ((file === undefined) !== isRemoval) return askedWrongly(world, 'Indique --arquivo ARQUIVO, ou --retirar.');
    return world.registry(async (registry) => {
      const by = byHand(values);
      const done =
        file === undefined
          ? await removeBrasao(registry, slug!, by)
          : await sendBrasao(registry, slug!, Buffer.from(await bytesOf(file)), by);
      if (done !== 'feito') return refuseAsked(world, done.problem);
      world.out(isRemoval ? 'Brasão retirado.\n' : 'Brasão trocado; as páginas o mostram em segundos.\n');
      return 0;
    });
  },
};
