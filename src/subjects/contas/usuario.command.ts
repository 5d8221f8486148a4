/** `nfse usuario …`: the people who may enter the console of a municipality, and their roles. */

import {
  askedWrongly,
  byHand,
  type CliWorld,
  type Command,
  inMunicipio,
  JSON_OPTION,
  refuseAsked,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import { isPapel, PAPEIS, PAPEIS_HELP, type Papel } from '../../base/world/papeis.ts';
import {
  bloquearUsuario,
  criarUsuario,
  listUsuarios,
  redefinirUsuario,
  retirarUsuario,
  type Usuario,
} from './usuarios.ts';

const MUNICIPIO = { takes: 'SLUG', help: 'município em que a pessoa trabalha' } as const;
const MOTIVO = { takes: 'TEXTO', help: 'por quê; fica no histórico do município' } as const;

export const USUARIO_COMMANDS: readonly Command[] = [
  {
    name: 'usuario criar',
    arguments: 'LOGIN',
    summary:
      'Dá um papel a uma pessoa, que o aceita pelo link mostrado: nele escolhe a senha, ou mostra a conta que já tem.',
    options: {
      municipio: MUNICIPIO,
      papel: { takes: 'PAPEL', help: PAPEIS.join(', ') },
      nome: { takes: 'NOME', help: 'como a pessoa se chama (padrão: o login)' },
      motivo: MOTIVO,
    },
    notes: [['', ''], ...PAPEIS.map((papel) => [papel, PAPEIS_HELP[papel]] as const)],
    run: (world, values, [login]) =>
      inMunicipio(world, values, 'em que a pessoa trabalha', (slug) => criar(world, values, login!, slug)),
  },
  {
    name: 'usuario listar',
    summary: 'Lista as contas do console.',
    options: { municipio: { takes: 'SLUG', help: 'só as que trabalham para este município' }, ...JSON_OPTION },
    run: listar,
  },
  {
    name: 'usuario bloquear',
    arguments: 'LOGIN',
    summary: 'Não deixa mais a conta entrar, e encerra as sessões dela.',
    options: { motivo: MOTIVO },
    run: (world, values, [login]) => bloquear(world, values, login!, true),
  },
  {
    name: 'usuario desbloquear',
    arguments: 'LOGIN',
    summary: 'Deixa a conta entrar outra vez.',
    options: { motivo: MOTIVO },
    run: (world, values, [login]) => bloquear(world, values, login!, false),
  },
  {
    name: 'usuario redefinir',
    arguments: 'LOGIN',
    summary: 'Esquece a senha e os segundos fatores da conta, e mostra um link novo para a pessoa.',
    options: { motivo: MOTIVO },
    run: redefinir,
  },
  {
    name: 'usuario retirar',
    arguments: 'LOGIN',
    summary: 'Retira o papel da conta num município; a conta só é apagada se ninguém entrou com ela, e não tem outro.',
    options: { municipio: MUNICIPIO, motivo: MOTIVO },
    run: (world, values, [login]) =>
      inMunicipio(world, values, 'de onde a pessoa sai', (slug) =>
        world.registry(async (registry) => {
          const done = await retirarUsuario(registry, login!, slug, byHand(values));
          if ('problem' in done) return refuseAsked(world, done.problem);
          const deleted = done.isDeleted ? ' Ninguém chegou a entrar com a conta, que foi apagada.' : '';
          world.out(`${login} já não trabalha para ${slug}.${deleted}\n`);
          return 0;
        }),
      ),
  },
];

async function criar(world: CliWorld, values: Values, login: string, municipio: string): Promise<number> {
  const papel = textOf(values, 'papel');
  if (papel === undefined || !isPapel(papel)) {
    return askedWrongly(world, `Falta --papel, um de: ${PAPEIS.join(', ')}.\n`);
  }
  return world.registry(async (registry) => {
    const made = await criarUsuario(
      registry,
      { login, nome: textOf(values, 'nome'), municipio, papel },
      byHand(values),
    );
    if ('problem' in made) return refuseAsked(world, made.problem);
    const { usuario, convite } = made;
    if (convite === undefined) {
      world.out(`${usuario.login} já trabalhava em ${municipio}, e agora tem o papel ${papel}.\n`);
      return 0;
    }
    const em = `o papel ${papel} em ${municipio}, que vale depois de aceito`;
    const said =
      usuario.situacao === 'convidado'
        ? `Conta ${usuario.login}, com ${em}.`
        : `A conta ${usuario.login} já existia, e recebe ${em}.`;
    world.out(`${said}\n${inviteLines(world, convite)}`);
    return 0;
  });
}

function inviteLines(world: CliWorld, convite: string): string {
  return [
    'Entregue este link à pessoa, e só a ela; serve uma vez, por 72 horas:',
    '',
    `  ${world.painelUrl()}/convite/${convite}`,
    '',
    '',
  ].join('\n');
}

function listar(world: CliWorld, values: Values): Promise<number> {
  return world.registry(async (registry) => {
    const usuarios = await listUsuarios(registry, textOf(values, 'municipio'));
    if (values['json'] === true) world.out(jsonText(usuarios));
    else if (usuarios.length === 0) {
      world.out('Ninguém tem conta. nfse usuario criar LOGIN --municipio SLUG --papel administracao faz a primeira.\n');
    } else {
      const head = ['login', 'nome', 'papéis', 'situação', 'segundo fator'];
      world.out(`${tableLines([head, ...usuarios.map(rowOf)], world.columns).join('\n')}\n`);
    }
    return 0;
  });
}

function rowOf({ login, nome, papeis, ofertas, situacao, segundoFator, provedor }: Usuario): readonly string[] {
  const roles = [
    ...Object.entries<Papel>(papeis).map(([municipio, papel]) => `${municipio}: ${papel}`),
    ...Object.entries<Papel>(ofertas).map(([municipio, papel]) => `${municipio}: ${papel}, ainda não aceito`),
  ];
  const factors = [...segundoFator, ...(provedor ? ['provedor'] : [])];
  return [login, printable(nome), roles.join('; ') || '(nenhum)', situacao, factors.join(', ') || '(nenhum)'];
}

async function bloquear(world: CliWorld, values: Values, login: string, isBlocked: boolean): Promise<number> {
  if (isBlocked && textOf(values, 'motivo') === undefined) {
    return askedWrongly(world, 'Falta --motivo TEXTO: ele fica no histórico de cada município da conta.\n');
  }
  return world.registry(async (registry) => {
    const refused = await bloquearUsuario(registry, login, isBlocked, byHand(values));
    if (refused !== undefined) return refuseAsked(world, refused.problem);
    world.out(isBlocked ? `A conta ${login} já não entra.\n` : `A conta ${login} entra outra vez.\n`);
    return 0;
  });
}

function redefinir(world: CliWorld, values: Values, [login]: readonly string[]): Promise<number> {
  return world.registry(async (registry) => {
    const made = await redefinirUsuario(registry, login!, byHand(values));
    if ('problem' in made) return refuseAsked(world, made.problem);
    world.out(`A conta ${login} foi redefinida: a senha, os segundos fatores e as sessões já não valem.\n`);
    world.out(inviteLines(world, made.convite));
    return 0;
  });
}
