// javac *.java && java Percurso              (com EmissorNfse.java e dps.json na mesma pasta)
import java.nio.file.*;
import java.time.Duration;
import java.util.*;

public class Percurso {
    static final Duration PRAZO = Duration.ofMinutes(5);

    public static void main(String[] args) throws Exception {
        String url = args.length > 0 ? args[0] : "http://127.0.0.1:8080";
        byte[] dps = Files.readAllBytes(Path.of("dps.json"));

        // Um ambiente só seu. A chave do dono não se mostra de novo: é com ela que se muda o relógio.
        var criado = new EmissorNfse(url, "integracao").criarAmbiente(Map.of("nome", "Meu ERP"));
        String municipio = criado.ambiente.municipio;
        System.out.println("Ambiente " + municipio + ", chave " + criado.chave);
        var cliente = new EmissorNfse(url, municipio);

        // Quem pergunta mostra um token, aqui o do prestador de dps.json. O cursor diz desde quando se seguem as mudanças.
        String token = cliente.pedirToken("11222333000181", List.of("consultar", "webhooks"), 90).token;
        var leitor = new EmissorNfse(url, municipio, null, new EmissorNfse.Opcoes().token(token));
        String cursor = leitor.seguirMudancas("agora", Duration.ZERO).cursor;

        var nota = cliente.acompanharNota(cliente.emitirNota(dps).chave_acesso, PRAZO).nota;
        System.out.println("Nota " + nota.numero + " " + nota.status + ", ISSQN " + nota.valor_issqn + ": " + nota.chave_acesso);
        Files.write(Path.of("nota.pdf"), cliente.baixarDanfse(nota.chave_acesso));

        var evento = cliente.registrarEvento(nota.chave_acesso, Map.of(
            "tipo_evento", "cancelamento",
            "codigo_motivo_cancelamento", "1",
            "descricao_motivo_cancelamento", "Valor do serviço informado com erro"), new EmissorNfse.Envio());
        var fim = cliente.acompanharEvento(nota.chave_acesso, evento.tipo_evento, evento.numero_sequencial, PRAZO);
        System.out.println("Cancelamento " + fim.status_evento);

        for (boolean cancelada = false; !cancelada; ) {
            var resposta = leitor.seguirMudancas(cursor, Duration.ofSeconds(20));
            for (var mudanca : resposta.mudancas) {
                System.out.println("Mudança: " + mudanca.tipo);
                cancelada = cancelada || mudanca.tipo.equals("nota.cancelada");
            }
            cursor = resposta.cursor; // no seu sistema, grave-o com o que tratou
        }

        for (var uma : leitor.listarNotas(Map.of("papel", "prestador")).notas) {
            System.out.println("Na lista: " + uma.chave_acesso + " " + uma.status);
        }

        // Janeiro do ano que vem, que o relógio do ambiente alcança num instante.
        int ano = Integer.parseInt(criado.ambiente.relogio.substring(0, 4)) + 1;
        cliente.alterarAmbiente(criado.chave, Map.of("relogio", ano + "-01-04T09:00:00-03:00"));
        nota = cliente.acompanharNota(cliente.emitirNota(dps).chave_acesso, PRAZO).nota;
        System.out.println("Em janeiro: " + nota.data_emissao);
    }
}
