/** The Prometheus of Debian with the alerts of `deploy`: silent while all is well, and firing when the service is gone. */
import { isReady } from './instalar.ts';
import { until } from './maquina.ts';
import { hasCommand, isInArchive, type Life, type Step } from './vida.ts';

/** The configuration of the page on monitoring, with a shorter interval, so that this does not take long. */
const CONFIG = `global:
  scrape_interval: 1s
  evaluation_interval: 1s
scrape_configs:
  - job_name: nfse
    static_configs:
      - targets: ['127.0.0.1:8083']
rule_files:
  - alertas.yml
`;
const FIRES_WITHIN_MS = 300_000;

async function query(
  { machine }: Life,
  text: string,
): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> {
  const said = await machine.do(`curl -sf http://127.0.0.1:9090/api/v1/query --data-urlencode 'query=${text}'`);
  return JSON.parse(said).data.result;
}

export const WATCH: Step = {
  name: 'vigiado pelo Prometheus, com um alerta que dispara',
  needs: async (life) =>
    (await isInArchive(life, 'deploy/alertas.yml')) && (await hasCommand(life, 'saude'))
      ? undefined
      : 'deploy/alertas.yml e nfse saude',
  run: async (life) => {
    const { machine } = life;
    await machine.do(`cp /opt/nfse/deploy/alertas.yml /etc/prometheus/alertas.yml
      cat > /etc/prometheus/prometheus.yml <<'FIM'\n${CONFIG}FIM
      promtool check config /etc/prometheus/prometheus.yml
      systemctl restart prometheus`);
    const isSeen = async (): Promise<boolean> =>
      (await query(life, 'up{job="nfse"} == 1').catch(() => [])).length === 1;
    await until('o Prometheus lê o serviço', isSeen);
    const { code, out } = await machine.try('nfse saude');
    if (code === 2) throw new Error(`nfse saude:\n${out}`);
    const isAway = async (): Promise<boolean> =>
      (await query(life, 'ALERTS{alertname="NfseForaDoAr",alertstate="firing"}')).length === 1;
    if (await isAway()) throw new Error('NfseForaDoAr fires while the service is there');
    await machine.do('systemctl stop nfse');
    await until('NfseForaDoAr dispara', isAway, FIRES_WITHIN_MS);
    if ((await machine.try('nfse saude')).code !== 2)
      throw new Error('nfse saude does not say that the service is gone');
    await machine.do('systemctl start nfse');
    await until('o serviço parte', () => isReady(life));
    await until('NfseForaDoAr se cala', async () => !(await isAway()));
  },
};
