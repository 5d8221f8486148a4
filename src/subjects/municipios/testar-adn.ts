/** Tests from this machine whether a municipality reaches the ADN, without sending anything: step by step, in words, until one fails. */
import { randomBytes, sign, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Probed, probeAdn } from '../../adn/probe.ts';
import { inspectAdn } from '../../base/world/municipio-files.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import type { PorMao } from '../../base/world/operator.ts';
import { type ChainedSigner, loadSigner, tlsMaterialOf } from '../../documents/key-files.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { Municipio } from '../../fiscal/settings.ts';

/** `nao_feito`: an earlier step failed. */
export type PassoDoTeste = {
  readonly passo: string;
  readonly situacao: 'bom' | 'aviso' | 'erro' | 'nao_feito';
  readonly diz: readonly string[];
};

export type TesteDoAdn = { readonly passou: boolean; readonly passos: readonly PassoDoTeste[] };

const PASSOS = ['Configuração', 'Certificado do município', 'Conexão', 'Consulta'] as const;

/** Runs the test, and records its operator. Throws an Error in Portuguese when there is no such municipality. */
export async function testAdn(world: RegistryWorld, slug: string, by: PorMao): Promise<TesteDoAdn> {
  const teste = await testAccess(world, await municipioNamed(world, slug), by);
  const failed = teste.passos.find(({ situacao }) => situacao === 'erro');
  await world.store.circuitos.hear(slug, failed && `teste de conexão: ${failed.diz[0]}`, world.now());
  return teste;
}

/** The same for settings that are not in use, whose failure is none of the municipality. `foreign`: why the certificate is not its own. */
export async function testAccess(
  world: RegistryWorld,
  municipio: Municipio,
  by: PorMao,
  foreign?: string,
): Promise<TesteDoAdn> {
  const slug = municipio.tenant;
  const done = await tryAll(world, municipio, foreign);
  const passos = PASSOS.map((passo, place): PassoDoTeste => {
    const one = done[place];
    return one === undefined ? { passo, situacao: 'nao_feito', diz: [] } : { passo, ...one };
  });
  const passou = done.length === PASSOS.length && done.every(({ situacao }) => situacao !== 'erro');
  const depois = { resultado: passou ? 'passou' : 'não passou' };
  const ato = {
    ...by,
    em: world.now(),
    objeto: 'municipio',
    chave: slug,
    acao: 'conexão com o ADN testada',
    depois,
  } as const;
  await world.store.atos.record(slug, [ato]);
  return { passou, passos };
}

type Feito = Omit<PassoDoTeste, 'passo'>;
const bom = (...diz: string[]): Feito => ({ situacao: 'bom', diz });
const erro = (...diz: string[]): Feito => ({ situacao: 'erro', diz });

async function tryAll(world: RegistryWorld, municipio: Municipio, foreign?: string): Promise<readonly Feito[]> {
  const { tenant, ambiente, adn, confianca } = municipio;
  if (adn === undefined) {
    const rehearses = AMBIENTES[ambiente].transmits ? '' : ' Em homologação nada é transmitido, e não faz falta.';
    return [
      erro(
        `O município não tem endereço do ADN.${rehearses} Quem opera o serviço o põe com nfse municipio alterar ${tenant} --adn.`,
      ),
    ];
  }
  const configured = AMBIENTES[ambiente].transmits
    ? bom(`O endereço é ${adn.url}.`)
    : ({
        situacao: 'aviso',
        diz: [`O endereço é ${adn.url}. Em homologação nada é transmitido: o teste só diz se ele atende.`],
      } as const);
  const { problems, avisos, certificado } = await inspectAdn(adn, confianca, world.now());
  if (problems.length > 0 || certificado === undefined) return [configured, erro(...problems)];
  const whose = `${certificado.titular}${certificado.documento === undefined ? '' : `, ${certificado.documento}`}, até ${certificado.fim}.`;
  if (foreign !== undefined) return [configured, erro(whose, foreign)];
  const [signer, ca] = await Promise.all([
    loadSigner(adn.chaves),
    adn.ca === undefined ? undefined : readFile(adn.ca, 'utf8'),
  ]);
  const signed = signProbe(signer);
  if (signed !== undefined) return [configured, erro(whose, signed)];
  const holder: Feito = {
    situacao: avisos.length === 0 ? 'bom' : 'aviso',
    diz: [whose, 'A chave assinou uma prova, que confere com o certificado.', ...avisos],
  };
  const probed = await probeAdn({ url: new URL(adn.url), tls: { ...tlsMaterialOf(signer), ca } });
  return [configured, holder, ...describeProbe(probed)];
}

/** Signs octets that mean nothing; the fault of the signature, if it has one. */
function signProbe({ key, certificate }: ChainedSigner): string | undefined {
  const probe = randomBytes(32);
  const isGood = verify('sha256', probe, certificate.publicKey, sign('sha256', probe, key));
  return isGood ? undefined : 'A chave assinou uma prova, que não confere com o certificado. Exporte os dois de novo.';
}

function describeProbe({ kind, why = '', ms }: Probed): readonly Feito[] {
  const said = `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  const connected = bom(`O ADN atendeu e aceitou a conexão com o certificado do município (${ms} ms ao todo).`);
  switch (kind) {
    case 'unreached':
      return [erro(said)];
    case 'barred':
      return [
        erro(
          said,
          'O ADN só aceita certificado ICP-Brasil do CNPJ do município conveniado. Confira também se ele não foi revogado.',
        ),
      ];
    case 'silent':
      return [connected, erro(said, 'Pode ser passageiro: tente de novo em alguns minutos.')];
    case 'strange':
      return [connected, erro(said, 'Pode ser passageiro. Se persiste, confira o endereço.')];
    case 'refused':
      return [
        connected,
        erro(
          said,
          'A conexão funciona, e o ADN não aceita a pergunta deste município: confira o convênio e o certificado.',
        ),
      ];
    case 'answered':
      return [connected, bom('O ADN respondeu à consulta do município. Nada foi enviado, e nada mudou lá.')];
  }
}
