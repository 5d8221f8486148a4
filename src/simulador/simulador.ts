/**
 * A simulator of the national environment, for rehearsals and tests: HTTPS with certificates on both sides, checked and stored documents,
 * and faults by a seed. It accepts notes (NFS-e) and their events.
 *
 * It is a process of its own and shares nothing with the service. It applies only the rules that concern the documents themselves.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { certificatesOfPem } from '../documents/certificate.ts';
import { abrirAdn } from './adn.ts';
import { abrirControle, CONTROL_HOST } from './controle.ts';
import { leitorDeDocumentos } from './documento.ts';
import { type Estado, type Log, newContagens } from './estado.ts';
import { AJUSTES, changeConfiguracao, FALTAS, readFaltas, SEM_FALTAS } from './faltas.ts';
import { openRegistro } from './registro.ts';

export type SimuladorOptions = {
  /** Address to listen on; the control is always on this machine alone. */
  readonly host: string;
  /** 0 chooses a free one; the control port does too. */
  readonly porta: number;
  readonly controle: number;
  /** Folder of its data. */
  readonly dados: string;
  /** PEM files: the server's certificate with its chain, its key, and the authorities of the clients. */
  readonly certificado: string;
  readonly chave: string;
  readonly clientes: string;
  readonly semente?: number | undefined;
  /** `atraso=0.1,html=0.02`. */
  readonly faltas?: string | undefined;
};

export type Simulador = Awaited<ReturnType<typeof startSimulador>>;

export { AJUDA_DE_CONTROLE } from './controle.ts';

/** Every fault and setting with its meaning, for the help. */
export const AJUDA_DE_FALTAS: readonly (readonly [string, string])[] = [
  ...Object.entries(FALTAS).map(([nome, { significado }]) => [nome, significado] as const),
  ...Object.entries(AJUSTES).map(
    ([nome, { significado, padrao }]) => [nome, `${significado} (padrão ${padrao})`] as const,
  ),
];

/** Starts the simulator. Throws in Portuguese for problems that its operator can correct. */
export async function startSimulador(options: SimuladorOptions, log: Log) {
  const { host, dados, certificado, chave } = options;
  const asked = {
    ...readFaltas(options.faltas ?? ''),
    ...(options.semente === undefined ? {} : { semente: options.semente }),
  };
  const configuracao = changeConfiguracao(SEM_FALTAS, asked);
  if ('problema' in configuracao) throw new Error(`--faltas: ${configuracao.problema}`);
  const tls = await serverMaterial(certificado, chave);
  const clientes = await authoritiesIn(options.clientes);
  const registro = await openRegistro(dados);
  const estado: Estado = {
    registro,
    log,
    configuracao,
    recusas: [],
    numero: 0,
    contagens: newContagens(),
    desconhecidas: new Map(),
    rastros: [],
  };
  const opened: { close(): Promise<void> }[] = [registro];
  const close = async (): Promise<void> => {
    for (let one = opened.pop(); one !== undefined; one = opened.pop()) await one.close();
  };
  try {
    const ler = leitorDeDocumentos(certificatesOfPem(clientes));
    const adn = await openPort('--porta', host, options.porta, () =>
      abrirAdn(estado, ler, { ...tls, clientes }, { host, port: options.porta }),
    );
    opened.push(adn);
    const controle = await openPort('--controle', CONTROL_HOST, options.controle, () =>
      abrirControle({ estado, adn }, options.controle),
    );
    opened.push(controle);
    return {
      address: adn.address,
      controle: controle.address,
      /** Documents stored at the start. */
      documentos: registro.total,
      /** Bytes of an unfinished record that were cut off. */
      descartado: registro.descartado,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Certificate and key of the server. Any kind of key is allowed, so they are only tested as a pair. */
async function serverMaterial(
  certificado: string,
  chave: string,
): Promise<{ readonly cert: string; readonly key: string }> {
  const cert = await textOf(certificado, 'Aponte em --certificado o PEM do certificado do servidor.');
  const key = await textOf(chave, 'Aponte em --chave o PEM da chave do servidor.');
  const [own] = certificatesOfPem(cert);
  if (own === undefined) {
    throw new Error(
      `${certificado}: não traz um certificado em PEM. Em --certificado vai o do servidor, com a cadeia.`,
    );
  }
  if (!own.x509.checkPrivateKey(privateKeyIn(key, chave))) {
    throw new Error(`${certificado} e ${chave} não são par. Use a chave com que o certificado foi emitido.`);
  }
  return { cert, key };
}

function privateKeyIn(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error(`${file}: não traz uma chave privada em PEM, sem senha. Em --chave vai a do servidor.`);
  }
}

async function authoritiesIn(file: string): Promise<string> {
  const pem = await textOf(file, 'Aponte em --clientes o PEM da autoridade dos certificados dos municípios.');
  if (certificatesOfPem(pem).length > 0) return pem;
  throw new Error(
    `${file}: não traz nenhum certificado em PEM. Em --clientes vai o da autoridade que emitiu os dos municípios.`,
  );
}

async function textOf(file: string, wanted: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'o arquivo não existe' : `não pôde ser lido (${code})`;
    throw new Error(`${file}: ${why}. ${wanted}`);
  }
}

/** Opens a server, and reports in Portuguese why its port is unavailable. */
async function openPort<T>(option: string, host: string, port: number, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const where = `${host}:${port}`;
    if (code === 'EADDRINUSE') {
      throw new Error(
        `o endereço ${where} já está em uso. Encerre o outro programa, ou escolha outra porta com ${option} (0 escolhe uma livre).`,
      );
    }
    if (code === 'EACCES')
      throw new Error(`falta permissão para escutar em ${where}. Escolha outra porta com ${option}.`);
    if (code === 'EADDRNOTAVAIL') throw new Error(`o endereço ${host} não é desta máquina. Confira --host.`);
    throw error;
  }
}
